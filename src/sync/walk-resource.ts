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
import { UpstreamError } from "../errors.ts";
import type { Loader, PageCounts } from "../load/loader.ts";
import { createPageMemory } from "../load/page-memory.ts";
import type { Logger } from "../log.ts";
import { createIdSet } from "../walk/id-set.ts";
import type { Page, PageMeta } from "../walk/page.ts";
import { parsePageRequest, requestText } from "../walk/page-request.ts";
import { createWalk, type Walk, type WalkOutcome } from "../walk/walk.ts";
import type { WalkPlan } from "./plan.ts";
import { emptyCounts, type WalkSummary } from "./summary.ts";

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
  const { sql, clock, log, runId, plan, resume } = options;
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
  } else if (isFull) {
    await memory.forgetStale();
  }
  await startWalk(sql, runId, resource, (request && resume?.startedAt) || clock.now().toISOString(), counts);

  const walk = createWalk({
    client: options.client,
    resource,
    listPath: plan.listPath,
    pageSize: options.pageSize,
    lookAhead: options.lookAhead,
    signal: options.signal,
    ...(isFull && { remember: (place: number) => memory.recall(place) }),
    ...(request !== null && { resume: { seq, request, seen } }),
  });

  let lastCheckpointAt = 0;
  let position: Checkpoint | null = resume?.checkpoint ?? null;
  const takePage = async (page: Page): Promise<void> => {
    const next = page.meta.next === null ? null : parsePageRequest(page.meta.next);
    const checkpoint: Checkpoint | null =
      isFull && next ? { seq: page.seq + 1, request: requestText(next) } : null;
    const at = page.observedAt.toISOString();
    if (page.records === null) {
      addSkipped(counts, page, walk);
      position = checkpoint;
      if (clock.now().getTime() - lastCheckpointAt > IDLE_CHECKPOINT_MS) {
        await saveProgress(sql, runId, resource, counts, checkpoint, at);
        lastCheckpointAt = clock.now().getTime();
      }
      return;
    }
    const loaded = await options.loader.load(
      { resource, records: page.records, request: page.request, observedAt: page.observedAt, source: "list" },
      async (tx, pageCounts) => {
        if (isFull) await memory.store(tx, page.seq, { ...page, request: page.request }, at);
        await saveProgress(tx, runId, resource, addPage(counts, pageCounts, walk), checkpoint, at);
      },
    );
    Object.assign(counts, addPage(counts, loaded, walk));
    position = checkpoint;
    lastCheckpointAt = clock.now().getTime();
    const isAllKnown = loaded.inserted + loaded.updated + loaded.restored === 0;
    if (!isFull && isAllKnown) walk.stop();
  };

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
      await takePage(step.value);
      options.onProgress(counts, step.value.meta.totalCount);
    }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    log.error({ resource, error: error.message, hint: error.hint }, "walk broke off");
    brokenBy = error;
    outcome = { walk: "not_whole", reason: error.message, totalCount: null, records: walk.seen.size };
  }

  if (isFull && outcome.walk === "whole") await memory.forgetFrom(counts.pages);
  await finishWalk(sql, runId, resource, {
    ...outcome,
    counts,
    checkpoint: brokenBy ? position : null,
    finishedAt: clock.now().toISOString(),
  });
  if (outcome.reason) log.warn({ resource, reason: outcome.reason }, "walk is not whole");
  return {
    summary: {
      walk: outcome.walk,
      ...(outcome.reason && { reason: outcome.reason }),
      ...counts,
      total_count: outcome.totalCount,
    },
    brokenBy,
  };
}

function addPage(counts: WalkCounts, page: PageCounts, walk: Walk): WalkCounts {
  return {
    pages: counts.pages + 1,
    records: walk.seen.size,
    inserted: counts.inserted + page.inserted,
    updated: counts.updated + page.updated,
    unchanged: counts.unchanged + page.unchanged,
    deleted: counts.deleted,
    restored: counts.restored + page.restored,
    quarantined: counts.quarantined + page.quarantined,
  };
}

function addSkipped(counts: WalkCounts, page: Page, walk: Walk): void {
  counts.pages += 1;
  counts.unchanged += page.ids.length;
  counts.records = walk.seen.size;
}
