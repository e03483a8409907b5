/** The record of runs and walks. The right to write is proved in the transaction that writes. */
import { hostname } from "node:os";
import { LockedError } from "../../base/errors.ts";
import type { OutcomeLabel } from "../../base/metrics/labels.ts";
import { counted, grouped } from "../../base/text.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import {
  type AnySql,
  oneRow,
  type Sql,
  statement,
  type TransactionSql,
  withTransaction,
} from "../connection/sql.ts";
import type { RunKind, RunStatus, Unfinished, WalkVerdict } from "../schema/runs.ts";
import { type Lease, lostLease } from "./leases.ts";

const START_RUN = statement<{ runId: number; interrupted: number[] }>("start_run", import.meta.url);
const FINISH_RUN = statement("finish_run", import.meta.url);
const START_WALKS = statement("start_walks", import.meta.url);
const RESUMABLE_WALKS = statement<ResumableWalk>("resumable_walks", import.meta.url);
const HEAD_FACTS = statement<
  ServiceGap &
    Pick<HeadFacts, "unexplained" | "joinedRunId" | "endedAt" | "missing"> & { unexplainedBySyncs: number }
>("head_facts", import.meta.url);
const COUNT_GAPS = statement<CountGap>("count_gaps", import.meta.url);
const SAVE_WALK = statement("save_walk", import.meta.url);
const MERGE_QUIET_ROUNDS = statement("merge_quiet_rounds", import.meta.url);

/** The counts of a walk so far. They are columns of `sync.walks`, under the names of the run summary. */
export type WalkCounts = Record<"pages" | "records" | OutcomeLabel, number>;

/** Where an interrupted walk resumes: the number of the next page in the walk, and its path and query. */
export interface Checkpoint {
  seq: number;
  request: string;
  /**
   * The limit of the service stopped the walk: it rests, and goes on days later. `counted`: the count of the service at that place.
   * `isBroken`: when it went on, something else stopped it.
   */
  rests?: { counted: number | null; isBroken?: true };
}

/** A walk of an interrupted full run, which the next run may resume. */
export interface ResumableWalk extends WalkCounts {
  runId: number;
  /** The run in which the walk began. It is an earlier run if the walk was resumed before. */
  beganRunId: number;
  resource: Resource;
  checkpoint: Checkpoint;
  startedAt: string;
  checkpointAt: string;
}

export interface RunTotals {
  requests: number;
  bytes: number;
  replacedNul: number;
  resolved: number;
  unresolved: number;
  transitions: number;
  /** Records that were stored, marked or put into quarantine. */
  changed: number;
  /** By how many milliseconds the service's clock was ahead. Null when no reply had a usable date. */
  clockAhead: { minMs: number; maxMs: number } | null;
  /** When the service's certificate ends. Null where none was seen. */
  certificateEnd: Date | null;
  unfinished: Unfinished;
}

/**
 * Opens a run and closes runs that dead processes left open. Safe to repeat: the run that was opened with this lease is returned
 * again. `assertMayRun` is the first in the transaction; nothing is changed when it throws. Throws `LockedError` where the lease is
 * over.
 */
export async function startRun(
  sql: Sql,
  kind: RunKind,
  startedAt: string,
  { term }: Pick<Lease, "term">,
  assertMayRun?: (tx: TransactionSql) => Promise<void>,
): Promise<{ runId: number; interrupted: number[] }> {
  const start = async (of: AnySql) => {
    const [run] = await START_RUN(of, { kind, startedAt, term, pid: process.pid, host: hostname() });
    if (!run) throw lostLease("run");
    return run;
  };
  if (!assertMayRun) return start(sql);
  return withTransaction(sql, async (tx) => {
    await assertMayRun(tx);
    return start(tx);
  });
}

/** Shows that the run is alive. Throws `LockedError` when another run has closed it. */
export async function beatHeart(sql: Sql, runId: number): Promise<void> {
  const beaten =
    await sql`update sync.runs set heartbeat_at = now() where id = ${runId} and status = 'running'`;
  if (beaten.count === 0) throw closedElsewhere(runId);
}

/** The end of a run. */
export interface RunEnd {
  status: Exclude<RunStatus, "running">;
  finishedAt: string;
  error: string | null;
  warnings: string[];
  /** True for a round of the watch that saw nothing. */
  isQuiet: boolean;
}

/** Closes a run. Throws `LockedError` when another run has closed it. Safe to repeat. */
export async function finishRun(sql: Sql, runId: number, end: RunEnd, totals: RunTotals): Promise<void> {
  const { clockAhead, certificateEnd, unfinished } = totals;
  const closed = await FINISH_RUN(sql, {
    ...totals,
    ...end,
    runId,
    unfinished: JSON.stringify(unfinished),
    clockAheadMinMs: clockAhead && toInteger(Math.floor(clockAhead.minMs)),
    clockAheadMaxMs: clockAhead && toInteger(Math.ceil(clockAhead.maxMs)),
    certificateEndsAt: certificateEnd?.toISOString() ?? null,
  });
  if (closed.count === 0) throw closedElsewhere(runId);
}

/** The nearest number that an integer column can hold, 24 days of milliseconds: a clock may be wrong by years. */
function toInteger(value: number): number {
  return Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, value));
}

/** When a walk began. A resumed walk began with the request for its first page, in the run that sent it. */
export interface WalkStart {
  startedAt: string;
  beganRunId: number;
}

/**
 * Opens the rows of walks, or opens them again for a second reading of the list in the same run. A resumed walk
 * keeps its checkpoint until it has a newer one, because this run may die before. Safe to repeat.
 */
export async function startWalks(
  sql: Sql | TransactionSql,
  runId: number,
  resources: readonly Resource[],
  { startedAt, beganRunId }: WalkStart,
  counts: WalkCounts,
  from: Pick<ResumableWalk, "checkpoint" | "checkpointAt"> | null,
): Promise<void> {
  await START_WALKS(sql, {
    ...counts,
    runId,
    resources,
    startedAt,
    beganRunId,
    checkpoint: from && JSON.stringify(from.checkpoint),
    checkpointAt: from?.checkpointAt ?? null,
  });
}

/** The columns of a walk that goes on. */
const GOES_ON = {
  walk: null,
  reason: null,
  unstored: null,
  deficit: null,
  unshown: null,
  repeated: null,
  held: null,
  finishedAt: null,
  readSince: null,
  roundRecords: null,
  roundReason: null,
  searchRequests: null,
  searchIsDone: null,
};

/**
 * Stores the progress of a walk in the transaction of the loaded page. `checkpoint` is null when there is
 * nothing to resume from, and `totalCount` where the service did not say how many records there are. Throws
 * `LockedError` when another run has begun since, which also rolls the page back: none begins before the page is committed. Safe to
 * repeat.
 */
export async function saveProgress(
  tx: TransactionSql | Sql,
  runId: number,
  resource: Resource,
  counts: WalkCounts,
  { checkpoint, ...progress }: SavedProgress,
): Promise<void> {
  const kept = checkpoint && JSON.stringify(checkpoint);
  await saveWalk(tx, runId, resource, { ...GOES_ON, ...counts, ...progress, checkpoint: kept });
}

interface SavedProgress {
  checkpoint: Checkpoint | null;
  at: string;
  totalCount: number | null;
  /** When its oldest reply was asked for: a walk began no later. Null where that is not known. */
  oldestAt: string | null;
}

async function saveWalk(
  tx: TransactionSql | Sql,
  runId: number,
  resource: Resource,
  columns: Record<string, unknown>,
) {
  const saved = await SAVE_WALK(tx, { ...columns, runId, resource });
  if (saved.count === 0) throw closedElsewhere(runId);
}

/** Another run has begun since, and has closed this one. `runId` is null before it was opened. */
export function closedElsewhere(runId: number | null): LockedError {
  const which = runId === null ? "this run" : `run ${runId}`;
  return new LockedError(`${which} was closed by another run, which continues its work`, {
    hint: "wait until that run has ended; `docmirror status` shows it",
  });
}

interface WalkEnd {
  walk: WalkVerdict;
  reason: string | null;
  totalCount: number | null;
  finishedAt: string;
  counts: WalkCounts;
  /** As for a walk that goes on. @default null */
  oldestAt?: string | null;
  /** Null for a walk that came to its end. */
  checkpoint: Checkpoint | null;
  unstored: number | null;
  deficit: number | null;
  /** The gap of the service, as it was measured or is known. @default null */
  gap?: ServiceGap | null | undefined;
  /** The records whose deletion was held back. @default null, as for the next three */
  held?: number | null | undefined;
  readSince?: string | null;
  night?: { records: number; reason: string | null } | undefined;
  search?: { requests: number; isDone: boolean } | undefined;
}

/** Closes a walk. Throws `LockedError` when another run has closed this one. Safe to repeat. */
export async function finishWalk(
  tx: TransactionSql | Sql,
  runId: number,
  resource: Resource,
  { counts, checkpoint, night, search, gap, held = null, readSince = null, oldestAt = null, ...end }: WalkEnd,
): Promise<void> {
  await saveWalk(tx, runId, resource, {
    ...end,
    ...counts,
    checkpoint: checkpoint && JSON.stringify(checkpoint),
    at: end.finishedAt,
    unshown: gap?.unshown ?? null,
    repeated: gap?.repeated ?? null,
    held,
    oldestAt,
    readSince,
    roundRecords: night?.records ?? null,
    roundReason: night?.reason ?? null,
    searchRequests: search?.requests ?? null,
    searchIsDone: search?.isDone ?? null,
  });
}

/** Counts deletions, in the transaction that makes them. They are confirmed after their walk has ended. */
export async function addDeleted(tx: TransactionSql, runId: number, resource: Resource, count: number) {
  await tx`
    update sync.walks set deleted = deleted + ${count} where run_id = ${runId} and resource = ${resource}`;
}

/**
 * The walks of syncs whose newest attempt did not come to its end. Leaves out a checkpoint that is older than `since`, or later
 * than `until` because a clock was wrong. A walk that rests may do so since `restedSince`. Rounds of the watch do not count: they
 * read only the head.
 */
export async function findResumableWalks(
  sql: Sql,
  since: string,
  until: string,
  restedSince = since,
): Promise<ResumableWalk[]> {
  return RESUMABLE_WALKS(sql, { resources: [...RESOURCES], since, until, restedSince });
}

/** The records by which the count of a service is larger than what its list shows, whatever the mirror has. */
export interface ServiceGap {
  /** It counts them and shows them on no page. Below 0: it shows more than it counts. */
  unshown: number;
  /** It counts them twice, because it shows them twice. */
  repeated: number;
}

/** The lists whose newest reading from end to end showed another number of records than the service counts. */
export interface CountGap {
  resource: Resource;
  counted: number;
  shown: number;
}

export async function findCountGaps(sql: AnySql): Promise<CountGap[]> {
  return COUNT_GAPS(sql, { resources: [...RESOURCES] });
}

/** For people, such as "the service counts 3,000 builds and shows 1,000". */
export function describeCountGap({ resource, counted: many, shown }: CountGap): string {
  return `the service counts ${counted(many, resource)} and shows ${grouped(shown)}`;
}

/** The results of earlier walks of a list that a reading of its head goes by. */
export interface HeadFacts {
  /** The gap as the newest walk, or the end of a round, has measured it. Walks of older programs say it in one number. */
  gap: ServiceGap;
  /**
   * The difference to the service's count that nothing explained when the head last joined. 0 after a whole walk: it has shown what there
   * is, so another one would settle nothing.
   */
  unexplained: number;
  /** True where a sync has found such a difference that its search did not settle, and that is still there. */
  isUnsettled: boolean;
  /**
   * The newest run that read the list whole, or down to a record that it knew. Null when there is none. A later run may have left a gap,
   * so the records that it stored do not prove that the mirror has the older ones.
   */
  joinedRunId: number | null;
  /** The end of the newest walk that ended, or null. */
  endedAt: string | null;
  /** The missing records that are noted. */
  missing: number;
}

export async function findHeadFacts(sql: Sql, resource: Resource): Promise<HeadFacts> {
  const { unshown, repeated, unexplained, unexplainedBySyncs, ...facts } = await oneRow(
    HEAD_FACTS(sql, { resource }),
  );
  const isUnsettled = unexplained !== 0 && unexplainedBySyncs !== 0;
  return { ...facts, gap: { unshown, repeated }, unexplained, isUnsettled };
}

/**
 * The difference between upstream's count and the mirror, beyond what `unstored` explains, when it was last
 * compared. A walk that broke off has compared nothing, so the result before it still holds.
 */
export async function findDeficit(sql: AnySql, resource: Resource): Promise<number> {
  const [row] = await sql<{ deficit: number }[]>`
    select coalesce(deficit - coalesce(unstored, 0), 0)
      + case when walk = 'head' then coalesce(unshown + repeated - held, 0) else 0 end as deficit
    from sync.walks
    where resource = ${resource} and (walk = 'whole' or deficit is not null) order by run_id desc limit 1`;
  return row?.deficit ?? 0;
}

/** The page of the mirror draws a gap where rounds are further apart, so such rounds stay apart. */
const NEIGHBOURS_WITHIN = "5 minutes";
/** More than the rounds of an hour that something keeps. */
const LOOK_BACK = 200;

/**
 * Merges rounds of the watch that saw nothing into the newest one, `runId`, within an hour by the clock: a round a minute would
 * leave gigabytes in years. The newest one stays as it is, since the bounds of the next builds come from it, and its number
 * grows, so whatever follows the numbers notices each round. A round stays where an open build was last seen in it, where a
 * missing record or a place of the database was noted, where the reports are as of it, and where another run, a gap or another count lies in between.
 *
 * The caller has the lease of the run. Safe to repeat; does nothing where the run saw something.
 */
export async function mergeQuietRounds(sql: Sql, runId: number): Promise<void> {
  await MERGE_QUIET_ROUNDS(sql, { runId, lookBack: LOOK_BACK, neighboursWithin: NEIGHBOURS_WITHIN });
}
