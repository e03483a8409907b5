/**
 * Removes old changes and finished runs, or rounds of the watch alone, never transitions. Looking back to any moment after the horizon still works:
 * all changes after it stay, and for each record the newest older change, which began its oldest known state, and the
 * newest older deletion or return. The first batch stores the horizon, so a query about an earlier moment cannot give
 * a wrong answer.
 *
 * It needs no lease: runs only add changes, which are newer than the horizon, and no run is removed while it is
 * running or a later one needs it. Two prunings at the same time remove the same rows.
 */
import type { SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { counted } from "../../base/text.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import {
  compose,
  composed,
  nameOf,
  type Sql,
  type TransactionSql,
  withTransaction,
} from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { changes, runs, walks } from "../../store/schema/index.ts";

const BATCH = 5000;
/** The number of records whose changes are checked at once. */
const RECORDS = 1000;

export type PruneCounts = Record<"changes" | "runs", number>;

/** Over a year, so that no question about the last year lacks a round. */
export const ROUNDS_KEPT_MS = 400 * 86_400_000;

/**
 * What may be removed. Rounds of the watch come each minute, and a year later nothing asks for them: each report looks at the newest ones,
 * and what they saw is in the transitions.
 */
type PruneKind = "changes and runs" | "rounds";

interface PruneOptions {
  sql: Sql;
  kind: PruneKind;
  /** An ISO time. Nothing after it is removed. */
  horizon: string;
  prunedAt: string;
  signal: AbortSignal;
}

/** As in "3 changes and 1 run". */
export const describePruned = ({ changes, runs }: PruneCounts): string =>
  `${counted(changes, "change")} and ${counted(runs, "run")}`;

/** Each batch is committed by itself. Safe to repeat. Throws `StoreError`, or the signal's reason. */
export async function prune(options: PruneOptions): Promise<PruneCounts> {
  const { sql, kind, horizon, signal } = options;
  const removed: PruneCounts = { changes: 0, runs: 0 };
  let pruningId: number | null = null;

  async function removeBatch(what: keyof PruneCounts, remove: (tx: TransactionSql) => Promise<number>) {
    signal.throwIfAborted();
    const done = await withTransaction(sql, async (tx) => {
      const count = await remove(tx);
      const counts = { ...removed, [what]: removed[what] + count };
      if (count === 0) return { count, counts, id: pruningId };
      return { count, counts, id: await recordPruning(tx, pruningId, options, counts) };
    });
    pruningId = done.id;
    Object.assign(removed, done.counts);
    return done.count;
  }

  return withStoreErrors("prune", async () => {
    const first: RecordKey | null = kind === "rounds" ? null : { resource: "", recordId: "" };
    for (let after = first; after !== null; ) {
      const from: RecordKey = after;
      let last: RecordKey | null = null;
      const count = await removeBatch("changes", async (tx) => {
        const batch = await deleteChanges(tx, horizon, from);
        last = batch.last;
        return batch.deleted;
      });
      // A full batch may leave more changes of the same records.
      after = count < BATCH ? last : from;
    }
    const deleteRuns = async (tx: TransactionSql) => {
      const { count } = await composed(tx)`
        delete from ${runs}
        where ${runs.id} in (select id from (${prunableRuns(horizon, kind)}) as run order by id limit ${BATCH})`;
      return count;
    };
    for (let count = BATCH; count === BATCH; ) count = await removeBatch("runs", deleteRuns);
    return removed;
  });
}

/** The clocks of machines that keep time differ by less. */
const CLOCK_DIFFERS_MS = 86_400_000;
/** A mirror that is at work has a newer run. */
const NEWEST_WITHIN = "2 days";

/**
 * The moment by which the age of rows is measured where nobody looks on: by the slower of the clocks of this machine and of Postgres.
 * Null where the newest run ended long before it, or saw that its clock was far from the service's: a clock may be years ahead, and
 * would have everything removed.
 */
export async function findPruneMoment(sql: Sql, now: Date): Promise<Date | null> {
  const [row] = await sql<{ at: string }[]>`
    with moment as (select least(now(), ${now.toISOString()}::timestamptz) as at)
    select at from moment, (
      select * from sync.runs where status <> 'running' order by id desc limit 1
    ) as newest
    where newest.finished_at > at - ${NEWEST_WITHIN}::interval
      and abs(coalesce(newest.clock_ahead_min_ms, 0)) < ${CLOCK_DIFFERS_MS}::int`;
  return row ? new Date(row.at) : null;
}

/** The earliest moment that the mirror can show; null while nothing was pruned. */
export async function findHistoryBegin(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ at: string }[]>`select mirror.history_begins_at() as at`;
  return row && row.at !== "-infinity" ? row.at : null;
}

type RecordKey = { resource: Resource | ""; recordId: string };

/** Prunes the changes of the next records. `last` is the last of them; null when no records are left. */
async function deleteChanges(tx: TransactionSql, horizon: string, after: RecordKey) {
  const key = compose`${nameOf(changes.resource)}, ${nameOf(changes.record_id)}`;
  const ofRecords = compose`record join ${changes} using (${key})`;
  const [row] = await composed(tx)<{ deleted: number; last: RecordKey | null }>`
    with record as materialized (
      select ${key} from ${changes} where (${key}) > (${after.resource}::text, ${after.recordId}::text)
      group by ${key} order by ${key} limit ${RECORDS}
    ), deleted as (
      delete from ${changes} where ${changes.id} in (
        select id from (${prunableChanges(ofRecords, horizon)}) as change limit ${BATCH}
      ) returning 1
    )
    select (select count(*) from deleted) as deleted, (
      select jsonb_build_object('resource', resource, 'recordId', record_id)
      from record order by resource desc, record_id desc limit 1
    ) as last`;
  return row ?? { deleted: 0, last: null };
}

/** Stores what was removed so far, in one row for each pruning. A pruning that removes nothing has no row. */
async function recordPruning(
  tx: TransactionSql,
  id: number | null,
  { horizon, prunedAt }: PruneOptions,
  { changes, runs }: PruneCounts,
): Promise<number | null> {
  const written =
    id === null
      ? tx`insert into sync.prunings (horizon, pruned_at, changes, runs) values (${horizon}, ${prunedAt}, ${changes}, ${runs})`
      : tx`update sync.prunings set changes = ${changes}, runs = ${runs} where id = ${id}`;
  const [row] = await tx<{ id: number }[]>`${written} returning id`;
  return row?.id ?? null;
}

const run = alias(runs, "run");
const walk = alias(walks, "walk");
const good = alias(walks, "good");

/** A change in `source` is old when it and all earlier ones of its record were observed before the horizon. */
const prunableChanges = (source: SQL, horizon: string): SQL => compose`
  select id from (
    select id, kind, is_old,
      max(id) filter (where is_old) over record as newest,
      max(id) filter (where is_old and kind <> 'updated') over record as newest_turn
    from (
      select ${changes.id}, resource, record_id, ${changes.kind},
        max(${changes.observed_at}) over (partition by resource, record_id order by ${changes.id})
          < ${horizon}::timestamptz as is_old
      from ${source}
    ) as dated
    window record as (partition by resource, record_id)
  ) as change
  where is_old and id < newest and (kind = 'updated' or id < newest_turn)`;

/**
 * Later runs need the newest whole walk of each list, the newest one that was whole or joined at the head, and all walks
 * since, which may have left a gap or a checkpoint. The newest run of each kind and status shows how fresh the mirror is.
 */
const prunableRuns = (horizon: string, kind: PruneKind): SQL => compose`
  select ${run.id} from ${runs} as ${run}
  where ${run.status} <> 'running' and ${run.finished_at} < ${horizon}::timestamptz
    and (${kind}::text <> 'rounds' or ${run.kind} = 'watch')
    and ${run.id} not in (select max(${runs.id}) from ${runs} group by ${runs.kind}, ${runs.status})
    and not exists (
      select from ${walks} as ${walk}
      join (
        select resource, coalesce(least(
          (select ${good.run_id} from ${walks} as ${good} where ${good.resource} = list.resource and ${good.walk} = 'whole'
           order by ${good.run_id} desc limit 1),
          (select max(${good.run_id}) from ${walks} as ${good}
           where ${good.resource} = list.resource and ${good.walk} in ('whole', 'head'))
        ), 0) as needed_from
        from unnest(${compose.param(RESOURCES)}::text[]) as list (resource)
      ) as needed on needed.resource = ${walk.resource}
      where ${walk.run_id} = ${run.id} and ${walk.run_id} >= needed_from
    )`;

/** Counts what `prune` would remove, and removes nothing. Throws `StoreError`. */
export async function countPrunable(sql: Sql, kind: PruneKind, horizon: string): Promise<PruneCounts> {
  return withStoreErrors("count what may be pruned", async () => {
    const older = prunableChanges(compose`${changes}`, horizon);
    const ofChanges = kind === "rounds" ? compose`0` : compose`(select count(*) from (${older}) as change)`;
    const [row] = await composed(sql)<PruneCounts>`
      select ${ofChanges} as changes, (select count(*) from (${prunableRuns(horizon, kind)}) as run) as runs`;
    return row ?? { changes: 0, runs: 0 };
  });
}
