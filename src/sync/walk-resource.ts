import { isSameEndpoint } from "../api/api-url.ts";
import type { Client } from "../api/client.ts";
import type { Clock } from "../clock.ts";
import type { Sql, TransactionSql } from "../db/connect.ts";
import type { Patience } from "../db/patience.ts";
import {
  type Checkpoint,
  findGapStart,
  findLastGoodWalk,
  finishWalk,
  type ResumableWalk,
  saveProgress,
  startWalk,
  type WalkCounts,
} from "../db/run-ledger.ts";
import { withTransaction } from "../db/transaction.ts";
import { UpstreamError } from "../errors.ts";
import type { BatchCounts, Loader } from "../load/loader.ts";
import { noteMet } from "../load/open-builds.ts";
import { createPageMemory } from "../load/page-memory.ts";
import { quarantineHole, resolveHoles } from "../load/quarantine.ts";
import type { Logger } from "../log.ts";
import { type Course, createCourse, type WalkOutcome } from "../walk/course.ts";
import type { Page, PageMeta } from "../walk/page.ts";
import { requestText } from "../walk/page-request.ts";
import { createPageSource } from "../walk/page-source.ts";
import { createWalk } from "../walk/walk.ts";
import { createBatches } from "./batches.ts";
import { createHeadJoin } from "./head-join.ts";
import { countKnown, forgetSeen, noteMissing } from "./missing-records.ts";
import { areOlderThan } from "./older-records.ts";
import type { WalkPlan } from "./plan.ts";
import { createSightingOrder, type OrderedPage } from "./sighting-order.ts";
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
  patience: Patience;
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
  const { sql, client, loader, clock, log, runId, plan, patience } = options;
  const { resource, listPath } = plan;
  const isFull = plan.kind === "full";
  const memory = createPageMemory<PageMeta>(sql, resource);
  const counts: WalkCounts = emptyCounts();
  const begin = () => createCourse({ resource, listPath, pageSize: options.pageSize, isListPath });
  const isListPath = (path: string) => isSameEndpoint(path, listPath, client.baseUrl);

  const resumed = isFull && options.resume ? await resumeCourse(begin, options.resume) : null;
  const course = resumed?.course ?? begin();
  const seq = resumed?.seq ?? 0;
  if (resumed) Object.assign(counts, resumed.counts);
  const startedAt = resumed?.startedAt ?? clock.now().toISOString();
  // The first pages are asked for meanwhile; none is compared with what is remembered before this is done.
  const forgotten = isFull
    ? patience("forget stale pages", () => memory.forgetStale(seq))
    : Promise.resolve();
  forgotten.catch(() => {});
  await patience("open a walk", () => startWalk(sql, runId, resource, startedAt, counts, resumed));
  const gapStart = isFull ? null : await patience("look for a gap", () => findGapStart(sql, resource, runId));
  const lastGood = isFull
    ? null
    : await patience("find the last count", () => findLastGoodWalk(sql, resource));
  const hasJoined = createHeadJoin(lastGood?.expectedTotal ?? null);

  const recall = (place: number) => patience("recall a page", () => memory.recall(place));
  const source = createPageSource({
    client,
    resource,
    // Where the head ends is known only behind its last page; what was asked for beyond it would be in vain each time.
    lookAhead: isFull ? options.lookAhead : 0,
    signal: options.signal,
    ...(isFull && { remember: (place: number) => forgotten.then(() => recall(place)) }),
  });
  const walk = createWalk({ resource, course, source, seq, signal: options.signal });
  const inOrder = createSightingOrder();

  /** The course of an interrupted walk, brought back from its pages; null when they do not lead to its checkpoint. */
  async function resumeCourse(create: () => Course, from: ResumableWalk) {
    const { checkpoint, startedAt, runId: fromRun, checkpointAt, resource: _of, ...counted } = from;
    return patience("resume a walk", async () => {
      const brought = create();
      let pages = 0;
      for await (const page of memory.pagesBefore(checkpoint.seq)) {
        if (!brought.replay(page)) break;
        pages += 1;
      }
      const { request } = brought;
      const facts = { resource, request: checkpoint.request, fromRun, pages };
      if (pages < checkpoint.seq || !request || requestText(request) !== checkpoint.request) {
        log.warn(facts, "the checkpoint does not fit the pages before it; the walk starts afresh");
        return null;
      }
      log.info(facts, "walk resumes at its checkpoint");
      return { course: brought, seq: checkpoint.seq, startedAt, counts: counted, checkpoint, checkpointAt };
    });
  }

  /** Whether a page lies below all that an earlier walk which broke off may have left unread. */
  async function joinsKnown(ids: readonly string[]): Promise<boolean> {
    if (gapStart === null) return true;
    return patience("look below the gap", () => areOlderThan(sql, resource, ids, gapStart));
  }

  let position: Checkpoint | null = resumed?.checkpoint ?? null;
  let savedAt = 0;

  let isFailed = false;
  /** Brings pages to the tables, in their order, and moves the checkpoint behind them. */
  const settleAfter = async (earlier: Promise<void>, pages: readonly OrderedPage[]): Promise<void> => {
    const last = pages.at(-1);
    if (!last) return;
    const changed = pages.flatMap((page) =>
      page.records === null ? [] : [{ ...page, records: page.records }],
    );
    const holes = pages.flatMap((page) => page.holes);
    const checkpoint = isFull ? checkpointBehind(last) : null;
    const at = last.observedAt.toISOString();
    let settled: WalkCounts | undefined;
    const noteHoles = async (tx: TransactionSql) => {
      for (const hole of holes) await quarantineHole(tx, { ...hole, resource, runId, observedAt: at });
    };
    try {
      // The loader keeps the order by itself; pages that need no loading have to wait for those before them.
      if (changed.length === 0) {
        await earlier;
        if (holes.length > 0) await patience("note a hole", () => withTransaction(sql, noteHoles));
      } else {
        await loader.load({ resource, pages: changed, source: "list" }, async (tx, loaded) => {
          // A checkpoint behind pages that failed would lose them for ever.
          if (isFailed) throw new Error("an earlier batch of this walk failed");
          settled = addLoaded(addPages(counts, pages, course), loaded);
          const memorized = changed.map((page) => ({
            ...page,
            // A page with a record that could not be stored, or was left out, is never skipped: each night tries it again.
            bodyHash: loaded.quarantined + loaded.stale > 0 ? "" : page.bodyHash,
            loadedAt: page.loadedAt.toISOString(),
          }));
          await Promise.all([
            noteHoles(tx),
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
    settled ??= addPages(counts, pages, course);
    if (!isFull) {
      const newRecords = newOf(settled) - newOf(counts);
      const isJoined = hasJoined({ ids: last.ids, newRecords, totalCount: last.meta.totalCount });
      if (isJoined && (await joinsKnown(last.ids))) walk.stop();
    }
    Object.assign(counts, settled);
    position = checkpoint;
    options.onProgress(counts, last.meta.totalCount);
    if (changed.length === 0 && clock.now().getTime() - savedAt > IDLE_CHECKPOINT_MS) {
      savedAt = clock.now().getTime();
      const idle = settled;
      await patience("move a checkpoint", () => saveProgress(sql, runId, resource, idle, checkpoint, at));
    }
  };
  let latest = Promise.resolve();
  const settle = (pages: readonly OrderedPage[]): Promise<void> => {
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
      const normalized = page.records && loader.normalize(resource, page.records);
      await batches.add(inOrder({ ...page, ...(normalized && { normalized }) }));
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

  const finishedAt = clock.now().toISOString();
  const isEmptied = outcome.walk === "whole" && course.seen.size === 0;
  const known = isEmptied ? await patience("count records", () => countKnown(sql, resource)) : 0;
  if (known > 0) {
    const reason = `${resource} list: it should hold the ${known} records that are known, but came empty; nothing is deleted`;
    outcome = { ...outcome, walk: "not_whole", reason };
  }
  const { held } = await patience("close a walk", () =>
    withTransaction(sql, async (tx) => {
      let noted: { held: string | null } = { held: null };
      if (outcome.walk === "whole") {
        if (isFull) await memory.forgetFrom(tx, counts.pages);
        await resolveHoles(tx, resource, finishedAt);
        const { maxDeleteRatio, allowMassDelete } = options;
        const facts = { resource, runId, startedAt, noticedAt: finishedAt, maxDeleteRatio, allowMassDelete };
        noted = await noteMissing(tx, { ...facts, seen: course.seen });
      } else await forgetSeen(tx, resource, course.seen);
      if (isFull && resource === "build") {
        await noteMet(tx, course.seen, { runId, startedAt, request: listPath });
      }
      await finishWalk(tx, runId, resource, {
        ...outcome,
        reason: outcome.reason ?? noted.held,
        counts,
        checkpoint: brokenBy ? position : null,
        finishedAt,
      });
      return noted;
    }),
  );
  if (outcome.reason) log.warn({ resource, reason: outcome.reason }, "walk is not whole");
  if (held) log.warn({ resource, reason: held }, "deletions are held back");
  const reason = outcome.reason ?? held;
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
  return page.following === null ? null : { seq: page.seq + 1, request: page.following };
}

/** The counts with pages that were read. Holes count as records put aside. */
function addPages(counts: WalkCounts, pages: readonly OrderedPage[], course: Course): WalkCounts {
  const holes = pages.flatMap((page) => page.holes).length;
  return withUnchanged({
    ...counts,
    pages: counts.pages + pages.length,
    records: course.seen.size,
    quarantined: counts.quarantined + holes,
  });
}

function addLoaded(counts: WalkCounts, loaded: Omit<BatchCounts, "transitions">): WalkCounts {
  return withUnchanged({
    ...counts,
    inserted: counts.inserted + loaded.inserted,
    updated: counts.updated + loaded.updated,
    restored: counts.restored + loaded.restored,
    quarantined: counts.quarantined + loaded.quarantined,
  });
}

/** Pages overlap and a list may be read twice, so records that did not change are not counted by sightings. */
function withUnchanged(counts: WalkCounts): WalkCounts {
  return { ...counts, unchanged: Math.max(0, counts.records - counts.inserted - counts.updated) };
}

function newOf({ inserted, restored }: WalkCounts): number {
  return inserted + restored;
}
