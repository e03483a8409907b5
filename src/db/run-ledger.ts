import { hostname } from "node:os";
import { LockedError } from "../errors.ts";
import { RESOURCES, type Resource } from "../wire/resources.ts";
import type { Sql, TransactionSql } from "./connect.ts";
import type { RunKind, RunStatus, WalkVerdict } from "./schema/runs.ts";
import { withTransaction } from "./transaction.ts";

/** What a walk has done so far; the columns of `sync.walks` by the names of the run summary. */
export interface WalkCounts {
  pages: number;
  records: number;
  inserted: number;
  updated: number;
  unchanged: number;
  deleted: number;
  restored: number;
  quarantined: number;
}

/** Where an interrupted walk goes on. */
export interface Checkpoint {
  /** The place of the next page in its walk. */
  seq: number;
  /** The next page's path and query. */
  request: string;
}

/** An interrupted run's walk of a full run, from which the next one may go on. */
export interface ResumableWalk extends WalkCounts {
  runId: number;
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
  /** By how much the service's clock was ahead, in milliseconds; null when no reply told. */
  clockAhead: { minMs: number; maxMs: number } | null;
}

/**
 * Opens a run, and closes those that dead processes left open: whoever calls this holds the run lock. Safe to repeat: a run that this
 * process has opened at this very time is given again.
 */
export async function startRun(
  sql: Sql,
  kind: RunKind,
  startedAt: string,
): Promise<{ runId: number; interrupted: number[] }> {
  return withTransaction(sql, async (tx) => {
    const [own] = await tx<{ id: number }[]>`
      select id from sync.runs where status = 'running' and pid = ${process.pid} and host = ${hostname()}
        and started_at = ${startedAt}::timestamptz`;
    if (own) return { runId: own.id, interrupted: [] };
    const interrupted = await tx<{ id: number }[]>`
      update sync.runs set status = 'interrupted', finished_at = heartbeat_at,
        error = 'the process ended without closing its run'
      where status = 'running' returning id`;
    const [run] = await tx<{ id: number }[]>`
      insert into sync.runs (kind, status, started_at, heartbeat_at, pid, host)
      values (${kind}, 'running', ${startedAt}, now(), ${process.pid}, ${hostname()})
      returning id`;
    if (!run) throw new Error("the run got no id");
    return { runId: run.id, interrupted: interrupted.map(({ id }) => id) };
  });
}

export async function beatHeart(sql: Sql, runId: number): Promise<void> {
  await sql`update sync.runs set heartbeat_at = now() where id = ${runId} and status = 'running'`;
}

/** Closes a run, unless another that took over has closed it. Safe to repeat. */
export async function finishRun(
  sql: Sql,
  runId: number,
  end: {
    status: Exclude<RunStatus, "running">;
    finishedAt: string;
    error: string | null;
    warnings: string[];
  },
  totals: RunTotals,
): Promise<void> {
  const { clockAhead } = totals;
  await sql`
    update sync.runs set status = ${end.status}, finished_at = ${end.finishedAt}, heartbeat_at = now(),
      error = ${end.error}, warnings = ${end.warnings}, requests = ${totals.requests}, bytes = ${totals.bytes},
      replaced_nul = ${totals.replacedNul}, references_resolved = ${totals.resolved},
      references_unresolved = ${totals.unresolved}, transitions = ${totals.transitions},
      clock_ahead_min_ms = ${clockAhead && toInteger(Math.floor(clockAhead.minMs))},
      clock_ahead_max_ms = ${clockAhead && toInteger(Math.ceil(clockAhead.maxMs))}
    where id = ${runId} and status = 'running'`;
}

/** The nearest number that an integer column holds: some 24 days of milliseconds, and a clock may be off by years. */
function toInteger(value: number): number {
  return Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, value));
}

/**
 * Opens a walk's row. A resumed walk began when its first page was asked for, in whichever run that was: what it
 * says of the records that were there "all through the walk" counts from then. It keeps its checkpoint until it has a newer
 * one: this run may die before. Safe to repeat.
 */
export async function startWalk(
  sql: Sql,
  runId: number,
  resource: Resource,
  startedAt: string,
  counts: WalkCounts,
  from: Pick<ResumableWalk, "checkpoint" | "checkpointAt"> | null,
): Promise<void> {
  await sql`
    insert into sync.walks (run_id, resource, started_at, pages, records, inserted, updated, unchanged, deleted,
      restored, quarantined, checkpoint, checkpoint_at)
    values (${runId}, ${resource}, ${startedAt}, ${counts.pages}, ${counts.records}, ${counts.inserted},
      ${counts.updated}, ${counts.unchanged}, ${counts.deleted}, ${counts.restored}, ${counts.quarantined},
      ${from ? JSON.stringify(from.checkpoint) : null}::text::jsonb, ${from?.checkpointAt ?? null}::timestamptz)
    on conflict (run_id, resource) do nothing`;
}

/**
 * Moves a walk on, in the transaction of the page that was loaded; null where there is nothing to go on from. Throws `LockedError`, and so
 * takes the page back, when another run has closed this one: its share of the run's row holds until the page is committed. Safe to repeat.
 */
export async function saveProgress(
  tx: TransactionSql | Sql,
  runId: number,
  resource: Resource,
  counts: WalkCounts,
  checkpoint: Checkpoint | null,
  at: string,
): Promise<void> {
  const moved = await tx`
    with run as (select id from sync.runs where id = ${runId} and status = 'running' for share)
    update sync.walks set pages = ${counts.pages}, records = ${counts.records}, inserted = ${counts.inserted},
      updated = ${counts.updated}, unchanged = ${counts.unchanged}, deleted = ${counts.deleted},
      restored = ${counts.restored}, quarantined = ${counts.quarantined},
      checkpoint = ${checkpoint && JSON.stringify(checkpoint)}::text::jsonb, checkpoint_at = ${at}::timestamptz
    from run where run_id = run.id and resource = ${resource}`;
  if (moved.count === 0) throw closedElsewhere(runId);
}

/**
 * Holds the run open until the transaction ends. Throws `LockedError` when another run has closed it: then that one writes, and this one may
 * not.
 */
export async function assertRunOpen(tx: TransactionSql, runId: number): Promise<void> {
  const open = await tx`select from sync.runs where id = ${runId} and status = 'running' for share`;
  if (open.count === 0) throw closedElsewhere(runId);
}

function closedElsewhere(runId: number): LockedError {
  return new LockedError(`run ${runId} was closed by another run, which goes on with its work`, {
    hint: "wait until it has ended; `docmirror status` shows it",
  });
}

export interface WalkEnd {
  walk: WalkVerdict;
  reason: string | null;
  totalCount: number | null;
  finishedAt: string;
  counts: WalkCounts;
  /** Where the next run goes on when the walk broke off; null for one that came to its end. */
  checkpoint: Checkpoint | null;
}

/** Closes a walk, within the caller's transaction. Throws `LockedError` when another run has closed this one. Safe to repeat. */
export async function finishWalk(
  tx: TransactionSql | Sql,
  runId: number,
  resource: Resource,
  end: WalkEnd,
): Promise<void> {
  await saveProgress(tx, runId, resource, end.counts, end.checkpoint, end.finishedAt);
  await tx`
    update sync.walks set walk = ${end.walk}, reason = ${end.reason}, total_count = ${end.totalCount},
      finished_at = ${end.finishedAt}
    where run_id = ${runId} and resource = ${resource}`;
}

/** Counts deletions, which are confirmed after their walk has ended, in the transaction that makes them. */
export async function addDeleted(
  tx: TransactionSql,
  runId: number,
  resource: Resource,
  count: number,
): Promise<void> {
  await tx`
    update sync.walks set deleted = deleted + ${count} where run_id = ${runId} and resource = ${resource}`;
}

/**
 * The walks of syncs whose newest attempt did not come to its end, as far as their checkpoints are not older than `since`. A round of the watch
 * that came between has read the head alone, and takes nothing from what is left to do.
 */
export async function findResumableWalks(sql: Sql, since: string): Promise<ResumableWalk[]> {
  return sql<ResumableWalk[]>`
    select run_id as "runId", resource, checkpoint, started_at as "startedAt", checkpoint_at as "checkpointAt", pages,
      records, inserted, updated, unchanged, deleted, restored, quarantined
    from unnest(${[...RESOURCES]}::text[]) as of (name)
    cross join lateral (
      select walks.* from sync.walks join sync.runs on runs.id = walks.run_id
      where resource = of.name and kind <> 'watch' order by run_id desc limit 1
    ) as newest
    where checkpoint is not null and checkpoint_at >= ${since}::timestamptz`;
}

/** When the newest whole walk of a resource began, or null. */
export async function findLastWholeWalk(sql: Sql, resource: Resource): Promise<string | null> {
  const [row] = await sql<{ startedAt: string }[]>`
    select started_at as "startedAt" from sync.walks
    where resource = ${resource} and walk = 'whole' order by started_at desc limit 1`;
  return row?.startedAt ?? null;
}

/**
 * The newest walk of a list that was whole or joined at the head: when it ended, and how many records the list should have by what was found
 * there then and by walks since that broke off. Null when there is none.
 */
export async function findLastGoodWalk(
  sql: Sql,
  resource: Resource,
): Promise<{ finishedAt: string; expectedTotal: number | null } | null> {
  const [row] = await sql<{ finishedAt: string; expectedTotal: number | null }[]>`
    select finished_at as "finishedAt", total_count + (
      select coalesce(sum(inserted + restored), 0)::bigint from sync.walks as later
      where later.resource = good.resource and later.run_id > good.run_id
    ) as "expectedTotal"
    from sync.walks as good
    where resource = ${resource} and walk in ('whole', 'head') order by run_id desc limit 1`;
  return row ?? null;
}

/**
 * When the oldest of the walks began that may have left a gap, because none after it came to a good end; null when the newest one did. Walks
 * of the run `before` and later ones do not count.
 */
export async function findGapStart(
  sql: Sql,
  resource: Resource,
  before: number | null,
): Promise<string | null> {
  const [good] = await sql<{ runId: number | null }[]>`
    select max(run_id) as "runId" from sync.walks where resource = ${resource} and walk in ('whole', 'head')`;
  // Given as a number: of one that is still to be found Postgres would expect half of all walks behind it, and read through them.
  const [row] = await sql<{ gapStart: string | null }[]>`
    select min(started_at) as "gapStart" from sync.walks
    where resource = ${resource} and (run_id < ${before}::bigint) is not false and run_id > ${good?.runId ?? 0}::bigint`;
  return row?.gapStart ?? null;
}
