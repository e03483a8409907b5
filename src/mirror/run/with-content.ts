/**
 * Fetches the pages of the files after a sync. It is no part of the run: the run has ended by then, with its lease,
 * its verdict and its reports, so the watch goes on meanwhile and pages can delay or spoil no list.
 */
import { setMaxListeners } from "node:events";
import { messageOf } from "../../base/errors.ts";
import { createPatience } from "../../store/connection/patience.ts";
import { isLease, type Leases } from "../../store/ledger/leases.ts";
import { createHostPace, type HostPace } from "../api/host-pace.ts";
import { linkSignals } from "../api/link-signals.ts";
import { createPageClient } from "../api/page-client.ts";
import { fetchPages, type PageCounts } from "../content/fetch-pages.ts";
import { pageUrl } from "../content/page-url.ts";
import type { ContentSummary } from "../lists/summary.ts";
import { startHeart } from "./heart.ts";
import type { SyncOptions, SyncResult } from "./run.ts";
import { createWarnings } from "./warnings.ts";

/** A sync that also fetches pages, if `content` is on. A failure of that is logged and stands in the summary alone. */
export function withContent<Result extends SyncResult>(
  run: (options: SyncOptions) => Promise<Result>,
): (options: SyncOptions) => Promise<Result> {
  return async (options) => {
    const { settings, clock } = options;
    if (!settings.content) return run(options);
    // One pace for the lists and for the pages on their host. It keeps a wait that the host asked for.
    const pace = options.pace ?? createHostPace({ ratePerSecond: settings.ratePerSecond, clock });
    const result = await run({ ...options, pace });
    const { run_id: runId, status } = result.summary;
    const isOver = result.error !== null || options.signal.aborted;
    if (runId === null || isOver || status === "failed" || status === "interrupted") return result;
    const content = await fetchContent(options, pace, runId);
    return { ...result, summary: { ...result.summary, content } };
  };
}

async function fetchContent(options: SyncOptions, sharedPace: HostPace, runId: number) {
  const { settings, clock } = options;
  const log = options.log.child({ run_id: runId });
  const { signal, release } = linkSignals([options.signal, options.giveWay?.()]);
  // Every request and every place in the queue listens to it.
  setMaxListeners(0, signal);
  const docsUrl = settings.docsUrl ?? settings.baseUrl;
  const isSameHost = docsUrl.origin === settings.baseUrl.origin;
  const warnings = createWarnings(log);
  const client = createPageClient({
    ...settings,
    docsUrl,
    clock,
    log,
    signal,
    onWarning: warnings.warn,
    meter: options.meters?.requests,
    isPage: (url) => pageUrl(url.href, docsUrl)?.pathname === url.pathname,
    pace: isSameHost ? sharedPace : createHostPace({ ratePerSecond: settings.ratePerSecond, clock }),
  });
  const { sql, leases, renew } = options.connections;
  const patience = createPatience({ clock, log, signal, regain: async () => {}, renew });
  const from = performance.now();
  let counts: PageCounts | null = null;
  let error: string | null = null;
  try {
    counts = await withLease(leases, () =>
      fetchPages({
        sql,
        patience,
        client,
        docsUrl,
        runId,
        clock,
        signal,
        warn: warnings.warn,
        budgetMs: settings.contentBudgetMs,
        concurrency: settings.concurrency,
      }),
    );
  } catch (reason) {
    error = messageOf(reason);
    log.error({ error }, "could not fetch the pages of the files; the next sync tries again");
  } finally {
    release();
    await client.close();
  }
  const ended = error !== null ? "failed" : (counts?.ended ?? "busy");
  const warned = warnings.list();
  const summary: ContentSummary = {
    ...(counts ?? { fetched: 0, unchanged: 0, failed: 0, left_out: 0, left: null }),
    ended,
    ...client.stats(),
    duration_ms: Math.round(performance.now() - from),
    ...(error !== null && { error }),
    ...(warned.length > 0 && { warnings: warned }),
  };
  log.debug({ ...summary }, "pages of files fetched");
  return summary;
}

/** Runs `work` unless another process does the same on this database: then null. */
async function withLease<T>(leases: Leases, work: () => Promise<T>): Promise<T | null> {
  const lease = await leases.take("content");
  if (!isLease(lease)) return null;
  // If it is lost, two processes fetch the same pages, which does no harm.
  const heart = startHeart(lease.keep, () => {});
  try {
    return await work();
  } finally {
    heart.stop();
    await lease.release();
  }
}
