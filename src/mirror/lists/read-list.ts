import type { Resource } from "../../resources/resources.ts";
import { composed, type Sql, type TransactionSql } from "../../store/connection/sql.ts";
import { forgetRounds, type NightMark, type Round, saveRound } from "../../store/ledger/rounds.ts";
import {
  type CountGap,
  describeCountGap,
  type ResumableWalk,
  saveProgress,
  startWalk,
  type WalkCounts,
  type WalkStart,
} from "../../store/ledger/run-ledger.ts";
import { isSameEndpoint } from "../api/api-url.ts";
import { createEarlierPages, createPageMemory, type PageMemory } from "../load/page-memory.ts";
import type { RunParts } from "../load/run-parts.ts";
import { RECORD_TABLES } from "../load/tables.ts";
import { type Course, createCourse, type WalkOutcome } from "../walk/course.ts";
import type { IdSet } from "../walk/id-set.ts";
import { createPageSource, type FetchedPage } from "../walk/page.ts";
import { createWalk } from "../walk/walk.ts";
import { ALWAYS_ALLOWED } from "./missing-records.ts";
import { describeMove, findMovedDates, noteMovedDates } from "./moved-dates.ts";
import { findSizing, firstPageSize, keepPageSize } from "./page-sizes.ts";
import { type Progress, type Reading, readPages, settlePages, type WalkOptions } from "./settle-pages.ts";

/** A night of a round: the part of a list that is read before the walk rests. */
export interface NightPart {
  /** Null begins a round. */
  round: Round | null;
  /** Where its next page is by now, compared with where it rested. */
  shift: number;
  /** The records of the part. */
  most: number;
  /** About how many pages these are. */
  pages: number;
  /** The distinct ids that the run has seen. */
  seen: IdSet;
  /** The first page of the list, as the head has just read it: a round may begin with it. */
  head: FetchedPage | null;
}

/** What a list may count and not show, as a part of its count. */
const MOST_UNSHOWN = 0.05;
/** The records of its first page by which a night is known. Some may be deleted. */
const MARKS = 20;
/** Pages of the walk before that may lie beyond the part of a night, where these were smaller. */
const SPARE_PAGES = 256;

/**
 * Reads every page of a list, from its start or from the checkpoint of an interrupted run; with a `night`, the next part
 * of a round. A page that equals one of the last full walk is neither parsed nor loaded. `counts` are those of this run's
 * earlier reading of the list.
 */
export async function readList(
  run: RunParts,
  options: WalkOptions,
  counts: WalkCounts,
  night: NightPart | null = null,
): Promise<
  Reading & { read: number; passes: number; nights: readonly NightMark[]; covers: Course["covers"] }
> {
  const { sql, client, clock, runId, patience, signal } = run;
  const { lookAhead, room, meters, onProgress } = options;
  const { resource, listPath } = options.plan;
  const memory = createPageMemory(sql, resource);
  const isListPath = (path: string) => isSameEndpoint(path, listPath, client.baseUrl);
  const size = await patience("find the page size", () => findSizing(sql, options, resource));
  const pageSize = firstPageSize(options.pageSize);
  const begin = () => createCourse({ resource, listPath, pageSize, isListPath });

  const rested = night ? night.round : options.resume;
  const resumed = rested && (await resumeWalk(rested, begin, memory, run));
  // The interrupted walk may have had another setting.
  if (resumed && !size && resumed.limit > pageSize) resumed.resize(pageSize);
  const from = resumed ? rested : null;
  const course = resumed ?? begin();
  const seq = from?.checkpoint.seq ?? 0;
  const recent = from ? null : (night?.head ?? null);
  const beganAt = (recent?.askedAt ?? clock.now()).toISOString();
  const start: WalkStart = from ?? { startedAt: beganAt, beganRunId: runId };
  const before = { ...counts };
  const resume = night || !from ? null : options.resume;
  if (resume) for (const name of Object.keys(counts) as (keyof WalkCounts)[]) before[name] = resume[name];
  // The pages that the night may meet.
  const until = night ? seq + 4 * night.pages + SPARE_PAGES : undefined;
  // The first pages are requested during this. No page is compared with a remembered one before it is done.
  const forgotten = patience("forget stale pages", () => memory.forgetStale(seq, until));
  forgotten.catch(() => {});
  // This page is not compared, and stored at once.
  if (recent) await forgotten;
  if (!night) {
    await patience("forget rounds", () => forgetRounds(sql, resource));
    await patience("open a walk", () => startWalk(sql, runId, resource, start, before, resume));
  }

  const earlier = createEarlierPages(sql, resource, seq, until);
  const recall = async (bodyHash: string) => {
    await forgotten;
    return patience("recall a page", () => earlier.recall(bodyHash));
  };
  const source = createPageSource({ client, resource, lookAhead, room, signal, recall, recent });
  const walk = createWalk({
    ...{ resource, course, source, size, seq, signal, earlier: earlier.sections },
    ...(night && { most: night.most, ...(resumed && { shift: night.shift }) }),
    findHighestId: () =>
      patience("find the highest id", () => findHighestId(sql, resource, start.beganRunId)),
  });
  const soFar = () => {
    const tonight = { startedAt: beganAt, ids: walk.first.slice(0, MARKS) };
    const nights = [...((from && night?.round?.nights) || []), tonight];
    return { ...start, records: course.seen.size, nights };
  };
  const saveNight = async (tx: Sql | TransactionSql, { counts, checkpoint, at, totalCount }: Progress) => {
    await saveProgress(tx, runId, resource, counts, null, at, totalCount);
    if (checkpoint && totalCount !== null)
      await saveRound(tx, resource, { ...soFar(), checkpoint, totalCount });
  };
  const keepSize = keepPageSize(resource, size);
  const settled = settlePages(run, {
    ...{ resource, room, meters, onProgress, counts: before, memory, keepSize },
    seen: night?.seen ?? course.seen,
    ...(night && { save: saveNight }),
  });
  const read = await readPages(walk, settled, async (page) => {
    options.onStart?.(size?.size);
    const isJudged = resource === "build" && page.seq === 0 && !night;
    const moved = isJudged ? await patience("compare dates", () => findMovedDates(sql, page)) : null;
    if (moved?.isMoved) await noteMovedDates(run, moved);
    if (moved && moved.byMs !== null) options.warn(`build list: ${describeMove(moved)}`);
    return true;
  });
  const { counts: after, checkpoint: at } = settled;
  const { walk: ended, totalCount } = read.outcome;
  // Of a walk without a rest the caller compares what it has seen.
  const judged = judgeEnd(resource, read.outcome, from ? course : { verdict: course.verdict, beyond: 0 });
  // The last pages may have been skipped, with nothing to commit.
  if (night && ended === "head" && at && totalCount !== null)
    await patience("save the round", () =>
      saveRound(sql, resource, { ...soFar(), checkpoint: at, totalCount }),
    );
  const checkpoint = read.brokenBy || night ? (at ?? from?.checkpoint ?? null) : null;
  return {
    ...{ ...read, ...judged, start, seen: course.seen, repeated: course.repeated, counts: after },
    ...{ keepSize, checkpoint },
    ...{ memorized: seq + after.pages - before.pages, read: walk.read },
    ...{ passes: course.passes, nights: soFar().nights, covers: course.covers },
    ...{ deficit: null, unstored: null, explained: 0 },
  };
}

/** Whether a walk has read all, but for records of which nothing but their place is known. A list that is cut is not whole. */
export function judgeEnd(
  resource: Resource,
  outcome: WalkOutcome,
  { verdict, beyond }: Pick<Course, "verdict" | "beyond">,
): Pick<Reading, "outcome" | "isAllRead"> {
  const isRead = outcome.walk === "whole" || verdict === "holes" || verdict === "records without an id";
  const counted = outcome.totalCount ?? 0;
  const cut = isRead ? describeCut({ resource, counted, shown: counted - beyond }, beyond) : null;
  return cut === null
    ? { outcome, isAllRead: isRead }
    : { outcome: { ...outcome, walk: "not_whole", reason: cut }, isAllRead: false };
}

/** Why a list that shows so many records fewer than it counts is not read well. Null where they are few. */
export function describeCut(gap: CountGap, unshown: number): string | null {
  if (unshown <= Math.max(ALWAYS_ALLOWED, gap.counted * MOST_UNSHOWN)) return null;
  return `${gap.resource} list: ${describeCountGap(gap)}: ask its owner why`;
}

async function findHighestId(sql: Sql, resource: Resource, runId: number): Promise<number | null> {
  const { table } = RECORD_TABLES[resource];
  const [row] = await composed(sql)<{ highest: number | null }>`
    select max(${table.id}::bigint) as highest from ${table}
    where ${table.id} ~ '^[0-9]{1,15}$' and ${table.first_seen_run_id} < ${runId}`;
  return row?.highest ?? null;
}

/** Restores the course of an interrupted walk from the remembered pages. Null when they do not fit. */
async function resumeWalk(
  { checkpoint, beganRunId }: Pick<ResumableWalk, "checkpoint" | "beganRunId">,
  createCourse: () => Course,
  memory: PageMemory,
  { patience, log }: RunParts,
): Promise<Course | null> {
  return patience("resume a walk", async () => {
    const course = createCourse();
    let pages = 0;
    for await (const page of memory.pagesBefore(checkpoint.seq)) {
      if (!course.replay(page)) break;
      pages += 1;
    }
    const facts = { request: checkpoint.request, began_run_id: beganRunId, pages };
    if (pages < checkpoint.seq || !course.resumeAt(checkpoint.request)) {
      log.warn(facts, "the checkpoint does not fit the pages before it; the walk starts again");
      return null;
    }
    log.info(facts, "walk resumes at its checkpoint");
    return course;
  });
}
