/**
 * Fetches the pages of the files that are due, the longest unasked first, until none is left, the time is up,
 * the host is lost, or a stop. Each batch is stored in one transaction, so an end at any moment loses one
 * batch at most. `docs/content.md` says when a page is due.
 */
import PQueue from "p-queue";
import type { Clock } from "../../base/clock.ts";
import { HttpStatusError, UpstreamError } from "../../base/errors.ts";
import type { Patience } from "../../store/connection/patience.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { serviceUrl } from "../../store/ledger/mirrored-service.ts";
import { isUpstreamLost } from "../api/fates.ts";
import type { PageClient } from "../api/page-client.ts";
import { showUrl } from "../api/upstream-errors.ts";
import type { ContentSummary } from "../lists/summary.ts";
import { pagePlace, pageUrl } from "./page-url.ts";
import { readPage } from "./read-page.ts";
import {
  type AskedPage,
  countDuePages,
  type DuePage,
  dropDeletedFiles,
  findDuePages,
  type PageOutcome,
  storeContents,
} from "./stored-pages.ts";

interface FetchPagesOptions {
  sql: Sql;
  patience: Patience;
  client: PageClient;
  /** The base of the pages: only addresses below it are requested. */
  docsUrl: URL;
  /** The run whose lists these files come from. */
  runId: number;
  /** Requests under way at the end are waited for. */
  budgetMs: number;
  concurrency: number;
  warn(message: string): void;
  clock: Clock;
  signal: AbortSignal;
}

export interface PageCounts
  extends Pick<ContentSummary, "fetched" | "unchanged" | "failed" | "left_out" | "left"> {
  ended: "done" | "budget" | "lost" | "stopped";
}

const BATCH = 20;
const LOOKUP = 2000;
/** After so many pages in a row without any answer, the root of the host is asked. */
const MAX_UNANSWERED = 5;

const COUNTED = {
  page: "fetched",
  unchanged: "unchanged",
  none: "failed",
  failed: "failed",
  "left out": "left_out",
} as const satisfies Record<PageOutcome["kind"], keyof PageCounts>;

/** Throws `StoreError`. A page that fails throws nothing, and neither does a stop. */
export async function fetchPages(options: FetchPagesOptions): Promise<PageCounts> {
  const counts: PageCounts = {
    fetched: 0,
    unchanged: 0,
    failed: 0,
    left_out: 0,
    left: null,
    ended: "stopped",
  };
  try {
    await fetchAndCount(options, counts);
  } catch (error) {
    if (!options.signal.aborted) throw error;
  }
  return counts;
}

async function fetchAndCount(options: FetchPagesOptions, counts: PageCounts): Promise<void> {
  const { sql, patience, client, docsUrl, runId, budgetMs, clock, signal } = options;
  const base = serviceUrl(docsUrl);
  const startedMs = clock.now().getTime();
  let unanswered = 0;
  let isAway = false;
  /** Null until the rules for robots are known. */
  let concurrency: number | null = null;

  const isTimeUp = () => clock.now().getTime() - startedMs + client.waitMs() >= budgetMs;
  const isLost = () => client.lost.aborted || isAway;
  const due = () => ({ runId, docsUrl: base, now: clock.now().toISOString() });

  /** Null for a page that is not asked for now, because the time is up or the host is lost. */
  async function ask(file: DuePage): Promise<AskedPage | null> {
    const { fileId, projectId, absoluteUrl, path } = file;
    const url = pageUrl(absoluteUrl, docsUrl);
    const askedAt = clock.now().toISOString();
    const outcome = url === null ? elsewhere(absoluteUrl) : await findOutcome(url, file);
    const version = pagePlace(absoluteUrl, path)?.version ?? null;
    return outcome && { fileId, projectId, absoluteUrl, version, url: url?.href ?? null, askedAt, outcome };
  }

  async function findOutcome(url: URL, file: DuePage): Promise<PageOutcome | null> {
    if (isTimeUp() || isLost()) return null;
    const refusal = client.findRefusal(url);
    if (refusal !== null)
      return { kind: "left out", status: null, reason: `robots.txt keeps it from robots: ${refusal}` };
    // The validators belong to the content of one address.
    const isKnown = file.isIndexed && file.url === url.href;
    try {
      const reply = await client.fetchPage(url, isKnown ? file : { etag: null, lastModified: null });
      unanswered = 0;
      if (reply.kind !== "page") return reply;
      const { html, ...answer } = reply;
      return { ...answer, content: readPage(html), receivedAt: clock.now().toISOString() };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof UpstreamError)) throw error;
      return await judge(error, url);
    }
  }

  /** Null when the host is lost: that says nothing about the page, unless its own answer was the last one. */
  async function judge(error: UpstreamError, url: URL): Promise<PageOutcome | null> {
    unanswered = isUpstreamLost(error) ? unanswered + 1 : 0;
    // Some pages of a host that is up never answer. They must not keep the others back.
    if (unanswered >= MAX_UNANSWERED && !isLost()) {
      if (await client.isUp(signal)) unanswered = 0;
      else isAway = true;
    }
    const status = error instanceof HttpStatusError ? error.status : null;
    // A page that asks for a long wait loses the host. Without a record it would be the first again each night.
    if (isLost() && (status === null || error.url !== showUrl(url))) return null;
    return { kind: "failed", status, reason: status === null ? error.message : `answered ${status}` };
  }

  /** Until they are known no page may be asked for: a server in trouble has said nothing (RFC 9309). */
  async function readRules(): Promise<void> {
    try {
      // A delay is between two requests.
      concurrency = (await client.readRobots(budgetMs)) > 0 ? 1 : options.concurrency;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof UpstreamError)) throw error;
      isAway = true;
      options.warn(`no page is asked for before robots.txt can be read: ${error.message}`);
    }
  }

  async function askBatch(files: readonly DuePage[]): Promise<AskedPage[]> {
    const isOurs = ({ absoluteUrl }: DuePage) => pageUrl(absoluteUrl, docsUrl) !== null;
    if (concurrency === null && files.some(isOurs)) await readRules();
    const queue = new PQueue({ concurrency: concurrency ?? 1 });
    const pages = await queue.addAll(files.map((file) => () => ask(file)));
    return pages.filter((page) => page !== null);
  }

  await patience("drop the pages of deleted files", () => dropDeletedFiles(sql));
  search: while (!isTimeUp()) {
    const files = await patience("find the pages that are due", () => findDuePages(sql, due(), LOOKUP));
    if (files.length === 0) break;
    for (let from = 0; from < files.length; from += BATCH) {
      signal.throwIfAborted();
      if (isTimeUp() || isLost()) break search;
      const pages = await askBatch(files.slice(from, from + BATCH));
      await patience("store pages", () => storeContents({ sql, runId, docsUrl: base }, pages));
      for (const { outcome } of pages) counts[COUNTED[outcome.kind]] += 1;
    }
  }
  counts.left = await patience("count the pages that are due", () => countDuePages(sql, due()));
  counts.ended = counts.left === 0 ? "done" : isLost() ? "lost" : "budget";
}

function elsewhere(absoluteUrl: string | null): PageOutcome {
  const hasAddress = absoluteUrl !== null && absoluteUrl.trim() !== "";
  const reason = hasAddress ? "its address is not below the base of the pages" : "its record has no address";
  return { kind: "none", status: null, reason };
}
