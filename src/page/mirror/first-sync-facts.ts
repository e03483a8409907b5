import { RESOURCES } from "../../resources/resources.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";

/** How far one list is. */
export interface ListProgress {
  readonly resource: string;
  readonly records: number;
  /** The service's own count; null where it has not said it. */
  readonly total: number | null;
  /** How its walk ended: "whole" where nothing is missing. Null while it goes on. */
  readonly walk: string | null;
  /** From its first page to its last, in seconds; so far, where it goes on. */
  readonly seconds: number;
  /** Null where that is not known, as of a walk that goes on with one that broke off. */
  readonly secondsLeft: number | null;
}

/** How far the newest sync is. */
export interface SyncProgress {
  readonly runId: number;
  readonly status: string;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly error: string | null;
  /** The milliseconds since the last page of a list that is being read; since its process was heard of, with none. */
  readonly silentMs: number;
  readonly lists: readonly ListProgress[];
  readonly records: number;
  /** All that the service counts; null while it has not said it of each list. */
  readonly total: number | null;
  /** Null where nothing can be said yet. */
  readonly recordsPerSecond: number | null;
  /** Lists are read side by side, so it is that of the slowest. Null where that is not known. */
  readonly secondsLeft: number | null;
}

interface SyncRow extends Pick<SyncProgress, "runId" | "status" | "startedAt" | "finishedAt" | "error"> {
  silentMs: number;
}

interface WalkRow {
  resource: string;
  records: number;
  total: number | null;
  walk: string | null;
  isResumed: boolean;
  seconds: number | null;
  silentMs: number;
}

/** How far the newest sync is; null where none has begun. Rounds of the watch do not count. */
export async function findSyncProgress(tx: TransactionSql): Promise<SyncProgress | null> {
  const [sync] = await tx<SyncRow[]>`
    select id as "runId", status, started_at as "startedAt", finished_at as "finishedAt", error,
      1000 * extract(epoch from now() - heartbeat_at)::float8 as "silentMs"
    from sync.runs where kind in ('full', 'incremental') order by id desc limit 1`;
  if (sync === undefined) return null;
  const walks = await tx<WalkRow[]>`
    select resource, records, total_count as total, walk, coalesce(began_run_id <> run_id, false) as "isResumed",
      extract(epoch from coalesce(finished_at, checkpoint_at) - started_at)::float8 as seconds,
      1000 * extract(epoch from now() - greatest(checkpoint_at, started_at))::float8 as "silentMs"
    from sync.walks where run_id = ${sync.runId}
    order by array_position(${[...RESOURCES]}::text[], resource)`;
  const lists = walks.map(readList);
  const going = walks.filter(({ walk }) => walk === null);
  const left = lists.filter(({ walk }) => walk === null).map(({ secondsLeft }) => secondsLeft);
  const totals = lists.flatMap(({ total }) => (total === null ? [] : [total]));
  const records = lists.reduce((sum, list) => sum + list.records, 0);
  const seconds = Math.max(0, ...lists.map((list) => list.seconds));
  return {
    ...sync,
    silentMs: going.length === 0 ? sync.silentMs : Math.min(...going.map(({ silentMs }) => silentMs)),
    lists,
    records,
    total:
      lists.length > 0 && totals.length === lists.length ? totals.reduce((sum, one) => sum + one, 0) : null,
    recordsPerSecond: seconds === 0 || walks.some(({ isResumed }) => isResumed) ? null : records / seconds,
    secondsLeft: left.includes(null) ? null : Math.max(0, ...left.map(Number)),
  };
}

function readList({ resource, records, total, walk, isResumed, seconds }: WalkRow): ListProgress {
  const known = { resource, records, total, walk, seconds: seconds ?? 0 };
  // The moment of its first page lies before a pause of unknown length.
  if (walk !== null || isResumed || total === null || records === 0 || !seconds)
    return { ...known, secondsLeft: null };
  return { ...known, secondsLeft: (Math.max(0, total - records) * seconds) / records };
}
