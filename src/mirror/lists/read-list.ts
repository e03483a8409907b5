import { earlierOf } from "../../base/clock.ts";
import { UpstreamError } from "../../base/errors.ts";
import { counted as countOf } from "../../base/text.ts";
import { firstRequest, requestText } from "../../resources/page-request.ts";
import type { Resource } from "../../resources/resources.ts";
import { composed, type Sql, type TransactionSql } from "../../store/connection/sql.ts";
import { forgetRounds } from "../../store/ledger/rounds.ts";
import {
  type Checkpoint,
  type ResumableWalk,
  saveProgress,
  startWalks,
  type WalkCounts,
  type WalkStart,
} from "../../store/ledger/run-ledger.ts";
import { isSameEndpoint } from "../api/api-url.ts";
import { fateOf } from "../api/fates.ts";
import { createEarlierPages, createPageMemory, type PageMemory } from "../load/page-memory.ts";
import { RECORD_TABLES } from "../load/tables.ts";
import { type Course, createCourse } from "../walk/course.ts";
import {
  type FetchedPage,
  type Page,
  type ParsedPage,
  parseListPage,
  type RememberedPage,
} from "../walk/page.ts";
import type { PageSize } from "../walk/page-size.ts";
import { createPageSource } from "../walk/page-source.ts";
import type { Section } from "../walk/sections.ts";
import { createWalk, type Walk } from "../walk/walk.ts";
import { judgeEnd } from "./differences.ts";
import { describeMove, noteMovedDates } from "./moved-dates.ts";
import { findSizing, firstPageSize, keepPageSize } from "./page-sizes.ts";
import { type PagesEnd, readPages } from "./read-pages.ts";
import type { ListOptions, ListRun, Reading } from "./reading.ts";
import type { SettlePagesOptions, WalkProgress } from "./settle-pages.ts";
import { emptyCounts } from "./summary.ts";

/**
 * Reads every page of a list, from its start or from the checkpoint of an interrupted run. A page that equals one of the last
 * full walk is neither parsed nor loaded. Where the service allows no more requests the walk rests as a round does, and the
 * proof is the same: it does not ask that a walk be quick.
 *
 * @param counts those of this run's earlier reading of the list
 */
export async function readList(run: ListRun, list: ListOptions, counts: WalkCounts): Promise<Reading> {
  const { sql, runId, patience } = run;
  const { resource } = list.plan;
  const opened = await openList(run, list, list.resume);
  const { course, from, start } = opened;
  const before = from ? countsOf(from) : { ...counts };
  if (list.remembered === null)
    await patience("open a walk", () => startWalks(sql, runId, [resource], start, before, from));
  // Before a page of theirs gets another place.
  if (resource === "build") await patience("forget rounds", () => forgetRounds(sql, resource));
  const rests = from?.checkpoint.rests;
  const read = await walkList(run, list, opened, {
    counts: before,
    seen: course.seen,
    ...(rests && { shift: await findShift(run, list, rests.counted) }),
    // A walk that has rested once may rest again, whatever stops it.
    save: (tx, { counts: soFar, checkpoint, ...progress }) => {
      const { totalCount } = progress;
      const place = checkpoint && { ...checkpoint, ...(rests && { rests: { counted: totalCount } }) };
      return saveProgress(tx, runId, resource, soFar, { ...progress, checkpoint: place });
    },
    async onPage(page) {
      if (resource !== "build" || page.seq > 0) return;
      const moved = await noteMovedDates(run, page);
      if (moved && moved.byMs !== null) run.warn(`build list: ${describeMove(moved)}`);
    },
  });
  const { brokenBy, moved } = read;
  const rest = brokenBy && restAt(read.checkpoint ?? from?.checkpoint ?? null, read);
  if (rest?.rests && !rest.rests.isBroken)
    run.warn(describeRest(resource, read, read.counts.records - before.records));
  return {
    // A walk without a rest is compared with its count when it is closed.
    ...judgeEnd(resource, read.outcome, from ? course : { verdict: course.verdict, beyond: 0 }),
    start: { ...start, startedAt: earlierOf(start.startedAt, read.oldestAt) },
    brokenBy,
    moved,
    seen: course.seen,
    repeated: course.repeated,
    counts: read.counts,
    checkpoint: rest,
    memory: {
      pages: opened.seq + read.counts.pages - before.pages,
      keepSize: opened.keepSize,
    },
    head: null,
  };
}

/** The checkpoint of a walk that broke off. It rests there where the service allows no more requests, or where it has rested before. */
function restAt(checkpoint: Checkpoint | null, { brokenBy, counted }: PagesEnd): Checkpoint | null {
  if (checkpoint === null) return null;
  const { rests } = checkpoint;
  if (fateOf(brokenBy)?.about === "pace")
    return { ...checkpoint, rests: { counted: counted ?? rests?.counted ?? null } };
  return rests ? { ...checkpoint, rests: { ...rests, isBroken: true } } : checkpoint;
}

function describeRest(resource: Resource, { counts, counted }: PagesEnd, read: number): string {
  const all = counted ?? 0;
  const left = Math.max(0, all - counts.records);
  const runs =
    read > 0 && left > 0 ? `: at this pace it needs ${countOf(Math.ceil(left / read), "more run")}` : "";
  const done = counted === null ? `${counts.records} records` : `${counts.records} of ${all} records`;
  const place = `The walk rests at ${done}, of which this run read ${read}, and the next run goes on${runs}`;
  return `${resource} list: the service allows no more requests for now. ${place}`;
}

/** By how many records the list has grown since the walk rested: a guess at where its next page is by now. */
async function findShift(
  { client }: ListRun,
  { plan }: ListOptions,
  counted: number | null,
): Promise<number> {
  const { resource, listPath } = plan;
  if (counted === null) return 0;
  const parse = (value: unknown, url: string) => parseListPage(value, resource, url, client);
  try {
    const { value } = await client.fetchJson<ParsedPage>(requestText(firstRequest(listPath, 1)), { parse });
    return (value.meta.totalCount ?? counted) - counted;
  } catch (error) {
    // The walk meets it too.
    if (error instanceof UpstreamError) return 0;
    throw error;
  }
}

function countsOf(walk: WalkCounts): WalkCounts {
  const counts = emptyCounts();
  for (const name of Object.keys(counts) as (keyof WalkCounts)[]) counts[name] = walk[name];
  return counts;
}

/** Where a walk rests. */
type Rest = WalkStart & Pick<ResumableWalk, "checkpoint">;

/** A list that is about to be read. */
interface OpenedList<From extends Rest> {
  course: Course;
  /** Where it goes on; null at its start. */
  from: From | null;
  start: WalkStart;
  /** When the first request of this run was made, or will be. */
  beganAt: string;
  /** The number of its next page. */
  seq: number;
  size: PageSize | null;
  /** Stores the size for the next walk. */
  keepSize(tx: TransactionSql): Promise<void>;
  memory: PageMemory;
  /** The pages of the walk before, around the place of this one. `recall` finds one by its hash. */
  earlier: { recall(bodyHash: string): Promise<RememberedPage | null>; sections(): readonly Section[] };
  /** The first page, where it was just fetched. */
  recent: FetchedPage | null;
}

interface Opening {
  /** The first page of the list, which was just fetched: a new walk may begin with it. @default none */
  recent?: FetchedPage | null;
  /** The walk ends behind so many pages of the memory at the latest. @default it may go on to the end */
  mostPages?: number;
}

/** Brings back the course of a walk that rests, or begins a new one. */
export async function openList<From extends Rest>(
  run: ListRun,
  list: Pick<ListOptions, "plan" | "pageSize" | "startSize" | "sizes" | "remembered">,
  rested: From | null,
  { recent = null, mostPages }: Opening = {},
): Promise<OpenedList<From>> {
  const { sql, clock, runId, patience } = run;
  const { resource } = list.plan;
  const memory = createPageMemory(sql, resource);
  const size = await findSizing(list, resource);
  const pageSize = firstPageSize(list.pageSize);
  const resumed = rested && (await resumeWalk(rested, () => beginCourse(run, list), memory, run));
  // The interrupted walk may have had another setting.
  if (resumed && !size && resumed.limit > pageSize) resumed.resize(pageSize);
  const from = resumed ? rested : null;
  const first = from ? null : recent;
  const beganAt = (first?.askedAt ?? clock.now()).toISOString();
  const seq = from?.checkpoint.seq ?? 0;
  const until = mostPages === undefined ? undefined : seq + mostPages;
  // The first pages are requested during this. No page is compared with a remembered one before it is done.
  const forgotten = list.remembered ?? patience("forget stale pages", () => memory.forgetStale(seq, until));
  forgotten.catch(() => {});
  // This page is not compared, and stored at once.
  if (first) await forgotten;
  const earlier = createEarlierPages(sql, resource, {
    from: seq,
    ...(until !== undefined && { until }),
    first: list.remembered,
  });
  return {
    course: resumed ?? beginCourse(run, list),
    from,
    start: from ?? { startedAt: beganAt, beganRunId: runId },
    beganAt,
    seq,
    size,
    keepSize: keepPageSize(resource, size),
    memory,
    earlier: {
      ...earlier,
      async recall(bodyHash) {
        await forgotten;
        return patience("recall a page", () => earlier.recall(bodyHash));
      },
    },
    recent: first,
  };
}

/** Begins the course of a walk of a list, at its first page. */
export function beginCourse(
  { client }: ListRun,
  { plan, pageSize }: Pick<ListOptions, "plan" | "pageSize">,
): Course {
  const { resource, listPath } = plan;
  const isListPath = (path: string) => isSameEndpoint(path, listPath, client.baseUrl);
  return createCourse({ resource, listPath, pageSize: firstPageSize(pageSize), isListPath });
}

interface WalkListOptions extends Pick<SettlePagesOptions, "counts" | "seen"> {
  /** See `createWalk`. */
  most?: number;
  shift?: number;
  /** See `settlePages`. */
  save?(tx: Sql | TransactionSql, progress: WalkProgress, walk: Walk): Promise<void>;
  /** Looks at a page before it is stored. */
  onPage?(page: Page): Promise<void>;
}

/** Walks a list and stores its pages. */
export async function walkList(
  run: ListRun,
  list: ListOptions,
  { course, start, seq, size, keepSize, memory, earlier, recent }: OpenedList<Rest>,
  { counts, seen, save, onPage, ...way }: WalkListOptions,
): Promise<PagesEnd & { walk: Walk }> {
  const { sql, client, patience, signal } = run;
  const { lookAhead, room } = list;
  const { resource } = list.plan;
  const { recall, sections } = earlier;
  const walk = createWalk({
    resource,
    course,
    source: createPageSource({ client, resource, lookAhead, room, signal, recall, recent }),
    size,
    seq,
    signal,
    earlier: sections,
    findHighestId: () =>
      patience("find the highest id", () => findHighestId(sql, resource, start.beganRunId)),
    ...way,
  });
  const read = await readPages(run, list, walk, {
    counts,
    seen,
    memory,
    keepSize,
    ...(save && { save: (tx, progress) => save(tx, progress, walk) }),
    async accept(page) {
      list.onStart?.(size?.size);
      await onPage?.(page);
      return true;
    },
  });
  return { ...read, walk };
}

async function findHighestId(sql: Sql, resource: Resource, runId: number): Promise<number | null> {
  const { table } = RECORD_TABLES[resource];
  const [row] = await composed(sql)<{ highest: number | null }>`
    select max(${table.id}::bigint) as highest from ${table}
    where ${table.id} ~ '^[0-9]{1,15}$' and ${table.first_seen_run_id} < ${runId}`;
  return row?.highest ?? null;
}

/** Restores the course of a walk that rests from the remembered pages. Null when they do not fit. */
async function resumeWalk(
  { checkpoint, beganRunId }: Rest,
  createCourse: () => Course,
  memory: PageMemory,
  { patience, log }: ListRun,
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
