import type { Client } from "../api/client.ts";
import type { Clock } from "../clock.ts";
import type { Sql } from "../db/connect.ts";
import {
  type Checkpoint,
  finishWalk,
  type ResumableWalk,
  saveProgress,
  startWalk,
  type WalkCounts,
} from "../db/run-ledger.ts";
import { withTransaction } from "../db/transaction.ts";
import { UpstreamError } from "../errors.ts";
import type { BatchCounts, Loader } from "../load/loader.ts";
import { createPageMemory } from "../load/page-memory.ts";
import type { Logger } from "../log.ts";
import { createIdSet } from "../walk/id-set.ts";
import type { Page, PageMeta } from "../walk/page.ts";
import { parsePageRequest, requestText } from "../walk/page-request.ts";
import { createWalk, type Walk, type WalkOutcome } from "../walk/walk.ts";
import { createBatches, type ReadPage } from "./batches.ts";
import { forgetSeen, noteMissing } from "./missing-records.ts";
import type { WalkPlan } from "./plan.ts";
import { emptyCounts, type WalkSummary } from "./summary.ts";

/** Pages that gather while others are loaded go in together, so many at most: a statement costs more than its rows. */
const MAX_BATCH_PAGES = 16;
/** Pages that were skipped unparsed move the checkpoint only so often: there is nothing else to commit for them. */
const IDLE_CHECKPOINT_MS = 2000;

export interface WalkResourceOptions {
  sql: Sql;
  client: Client;
  loader: Loader;
  clock: Clock;
  log: Logger;
  runId: number;
  plan: WalkPlan;
  pageSize: number;
  lookAhead: number;
  resume: ResumableWalk | null;
  maxDeleteRatio: number;
  allowMassDelete: boolean;
  signal: AbortSignal;
  onProgress(counts: WalkCounts, totalCount: number | null): void;
}

/** How a walk ended, and the failure of upstream that broke it off, if one did. */
export interface WalkEnding {
  summary: WalkSummary;
  brokenBy: UpstreamError | null;
}

/**
 * Walks one list and loads it page by page. A walk that upstream breaks off ends as `not_whole` and keeps its checkpoint; a
 * failure of the database, a stop or a bug is thrown.
 */
export async function walkResource(options: WalkResourceOptions): Promise<WalkEnding> {
  const { sql, loader, clock, log, runId, plan, resume } = options;
  const { resource } = plan;
  const isFull = plan.kind === "full";
  const memory = createPageMemory<PageMeta>(sql, resource);
  const counts: WalkCounts = emptyCounts();
  const seen = createIdSet();
  let seq = 0;
  let request: string | null = null;
  if (isFull && resume) {
    for await (const ids of memory.idsBefore(resume.checkpoint.seq)) for (const id of ids) seen.add(id);
    for (const key of Object.keys(counts) as (keyof WalkCounts)[]) counts[key] = resume[key];
    ({ seq, request } = resume.checkpoint);
    log.info(
      { resource, request, fromRun: resume.runId, pages: counts.pages },
      "walk resumes at its checkpoint",
    );
  }
  // The first pages are asked for meanwhile; none is compared with what is remembered before this is done.
  const forgotten = isFull ? memory.forgetStale(seq) : Promise.resolve();
  forgotten.catch(() => {});
  const startedAt = (request && resume?.startedAt) || clock.now().toISOString();
  await startWalk(sql, runId, resource, startedAt, counts);

  const walk = createWalk({
    client: options.client,
    resource,
    listPath: plan.listPath,
    pageSize: options.pageSize,
    lookAhead: options.lookAhead,
    signal: options.signal,
    ...(isFull && { remember: (place: number) => forgotten.then(() => memory.recall(place)) }),
    ...(request !== null && { resume: { seq, request, seen } }),
  });

  let position: Checkpoint | null = (isFull && resume?.checkpoint) || null;
  let savedAt = 0;

  let isFailed = false;
  /** Brings pages to the tables, in their order, and moves the checkpoint behind them. */
  const settleAfter = async (earlier: Promise<void>, pages: readonly ReadPage[]): Promise<void> => {
    const last = pages.at(-1);
    if (!last) return;
    const changed = pages.flatMap((page) =>
      page.records === null ? [] : [{ ...page, records: page.records }],
    );
    const checkpoint = isFull ? checkpointBehind(last) : null;
    const at = last.observedAt.toISOString();
    let settled: WalkCounts | undefined;
    try {
      // The loader keeps the order by itself; pages that need no loading have to wait for those before them.
      if (changed.length === 0) await earlier;
      else {
        await loader.load({ resource, pages: changed, source: "list" }, async (tx, loaded) => {
          // A checkpoint behind pages that failed would lose them for ever.
          if (isFailed) throw new Error("an earlier batch of this walk failed");
          settled = addLoaded(addPages(counts, pages, walk), loaded);
          const memorized = changed.map((page) => ({
            ...page,
            // A page with a record that could not be stored is never skipped: each night tries it again.
            bodyHash: loaded.quarantined > 0 ? "" : page.bodyHash,
            loadedAt: page.observedAt.toISOString(),
          }));
          await Promise.all([
            isFull && memory.store(tx, memorized),
            saveProgress(tx, runId, resource, settled, checkpoint, at),
          ]);
        });
        savedAt = clock.now().getTime();
      }
    } catch (error) {
      isFailed = true;
      throw error;
    }
    settled ??= addPages(counts, pages, walk);
    if (!isFull && changesOf(settled) === changesOf(counts)) walk.stop();
    Object.assign(counts, settled);
    position = checkpoint;
    options.onProgress(counts, last.meta.totalCount);
    if (changed.length === 0 && clock.now().getTime() - savedAt > IDLE_CHECKPOINT_MS) {
      savedAt = clock.now().getTime();
      await saveProgress(sql, runId, resource, settled, checkpoint, at);
    }
  };
  let latest = Promise.resolve();
  const settle = (pages: readonly ReadPage[]): Promise<void> => {
    latest = settleAfter(latest, pages);
    return latest;
  };
  const batches = createBatches(settle, isFull ? MAX_BATCH_PAGES : 1);

  let outcome: WalkOutcome;
  let brokenBy: UpstreamError | null = null;
  const pages = walk.pages();
  try {
    for (;;) {
      const step = await pages.next();
      if (step.done) {
        outcome = step.value;
        break;
      }
      const page = step.value;
      await batches.add(
        page.records ? { ...page, normalized: loader.normalize(resource, page.records) } : page,
      );
    }
    await batches.end();
  } catch (error) {
    // What was read is brought home in any case: nothing may be written any more when this function has ended.
    const unsettled = await batches.end().then(
      () => null,
      (reason: unknown) => ({ reason }),
    );
    if (!(error instanceof UpstreamError)) throw error;
    if (unsettled) throw unsettled.reason;
    log.error({ resource, error: error.message, hint: error.hint }, "walk broke off");
    brokenBy = error;
    outcome = { walk: "not_whole", reason: error.message, totalCount: null, records: walk.seen.size };
  }

  if (isFull && outcome.walk === "whole") await memory.forgetFrom(counts.pages);
  const finishedAt = clock.now().toISOString();
  let held: string | null = null;
  if (outcome.walk === "whole") {
    const bounds = { maxDeleteRatio: options.maxDeleteRatio, allowMassDelete: options.allowMassDelete };
    const facts = { resource, seen: walk.seen, startedAt, runId, noticedAt: finishedAt, ...bounds };
    ({ held } = await withTransaction(sql, (tx) => noteMissing(tx, facts)));
  } else {
    await forgetSeen(sql, resource, walk.seen);
  }
  const reason = outcome.reason ?? held;
  await finishWalk(sql, runId, resource, {
    ...outcome,
    reason,
    counts,
    checkpoint: brokenBy ? position : null,
    finishedAt,
  });
  if (reason) log.warn({ resource, reason }, held ? "deletions are held back" : "walk is not whole");
  return {
    summary: {
      walk: outcome.walk,
      ...(reason && { reason }),
      ...counts,
      total_count: outcome.totalCount,
    },
    brokenBy,
  };
}

/** Where the walk goes on behind a page; null behind the last one. */
function checkpointBehind(page: Page): Checkpoint | null {
  const next = page.meta.next === null ? null : parsePageRequest(page.meta.next);
  return next && { seq: page.seq + 1, request: requestText(next) };
}

/** The counts with pages that were read. Records on a page that was skipped unparsed are unchanged ones. */
function addPages(counts: WalkCounts, pages: readonly ReadPage[], walk: Walk): WalkCounts {
  const skipped = pages.filter(({ records }) => records === null).flatMap(({ ids }) => ids).length;
  return {
    ...counts,
    pages: counts.pages + pages.length,
    records: walk.seen.size,
    unchanged: counts.unchanged + skipped,
  };
}

function addLoaded(counts: WalkCounts, loaded: Omit<BatchCounts, "transitions">): WalkCounts {
  return {
    ...counts,
    inserted: counts.inserted + loaded.inserted,
    updated: counts.updated + loaded.updated,
    unchanged: counts.unchanged + loaded.unchanged,
    restored: counts.restored + loaded.restored,
    quarantined: counts.quarantined + loaded.quarantined,
  };
}

function changesOf({ inserted, updated, restored }: WalkCounts): number {
  return inserted + updated + restored;
}
