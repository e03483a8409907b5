/**
 * Thins out changes and finished runs, never transitions (`prunable.ts` says which). The horizon is written down in the transaction of
 * the first batch, so that no look back before it can give a wrong answer.
 *
 * It needs no run lock: runs only add changes, which are younger than the horizon, and never read them; and no run that goes on
 * can lose one that it leans on. Two prunings at once take away the same.
 */
import type { Sql, TransactionSql } from "../db/connect.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { withTransaction } from "../db/transaction.ts";
import { RESOURCES, type Resource } from "../wire/resources.ts";
import { PRUNABLE_RUNS, type PruneCounts, prunableChanges } from "./prunable.ts";

/** Changes or runs taken away in one transaction at most. */
const BATCH = 5000;
/** Records whose changes are looked through at once. */
const RECORDS = 1000;

export interface PruneOptions {
  sql: Sql;
  /** What is older may go: an ISO time. */
  horizon: string;
  /** When that was asked for: an ISO time. */
  prunedAt: string;
  signal: AbortSignal;
}

/**
 * Takes away old changes and runs, batch by batch; what an earlier batch took stays gone when a later one fails or the signal comes. Safe
 * to repeat. Throws `StoreError`, or the signal's reason.
 */
export async function prune(options: PruneOptions): Promise<PruneCounts> {
  const { sql, horizon, signal } = options;
  const taken: PruneCounts = { changes: 0, runs: 0 };
  let pruningId: number | null = null;

  async function takeBatch(what: keyof PruneCounts, take: (tx: TransactionSql) => Promise<number>) {
    signal.throwIfAborted();
    const done = await withTransaction(sql, async (tx) => {
      const count = await take(tx);
      const counts = { ...taken, [what]: taken[what] + count };
      if (count === 0) return { count, counts, id: pruningId };
      return { count, counts, id: await notePruning(tx, pruningId, options, counts) };
    });
    pruningId = done.id;
    Object.assign(taken, done.counts);
    return done.count;
  }

  return withStoreErrors("prune", async () => {
    for (let after: RecordKey | null = { resource: "", recordId: "" }; after !== null; ) {
      const from: RecordKey = after;
      let last: RecordKey | null = null;
      const count = await takeBatch("changes", async (tx) => {
        const batch = await deleteChanges(tx, horizon, from);
        last = batch.last;
        return batch.deleted;
      });
      // Of a batch that was cut something is left among the same records.
      after = count < BATCH ? last : from;
    }
    let count = BATCH;
    while (count === BATCH) count = await takeBatch("runs", (tx) => deleteRuns(tx, horizon));
    return taken;
  });
}

/** From when on the mirror can be looked back at; null while nothing was pruned. */
export async function findHistoryBegin(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ at: string }[]>`select mirror.history_begins_at() as at`;
  return row && row.at !== "-infinity" ? row.at : null;
}

interface RecordKey {
  resource: Resource | "";
  recordId: string;
}

/** Looks through the next records; `last` is the last of them, or null when there is none behind. */
async function deleteChanges(
  tx: TransactionSql,
  horizon: string,
  after: RecordKey,
): Promise<{ deleted: number; last: RecordKey | null }> {
  const [row] = await tx.unsafe<{ deleted: number; last: RecordKey | null }[]>(
    `with record as materialized (
       select resource, record_id from mirror.changes where (resource, record_id) > ($2::text, $3::text)
       group by resource, record_id order by resource, record_id limit ${RECORDS}
     ), deleted as (
       delete from mirror.changes where id in (
         select id from (${prunableChanges("record join mirror.changes using (resource, record_id)")}) as change limit ${BATCH}
       ) returning 1
     )
     select (select count(*) from deleted) as deleted, (
       select jsonb_build_object('resource', resource, 'recordId', record_id)
       from record order by resource desc, record_id desc limit 1
     ) as last`,
    [horizon, after.resource, after.recordId],
  );
  return row ?? { deleted: 0, last: null };
}

async function deleteRuns(tx: TransactionSql, horizon: string): Promise<number> {
  const { count } = await tx.unsafe(
    `delete from sync.runs where id in (select id from (${PRUNABLE_RUNS}) as run order by id limit ${BATCH})`,
    [horizon, RESOURCES as unknown as string[]],
  );
  return count;
}

/** Writes down what was taken so far, in one row for each pruning; one that takes nothing has none. */
async function notePruning(
  tx: TransactionSql,
  id: number | null,
  { horizon, prunedAt }: PruneOptions,
  { changes, runs }: PruneCounts,
): Promise<number | null> {
  const [row] =
    id === null
      ? await tx<{ id: number }[]>`
          insert into sync.prunings (horizon, pruned_at, changes, runs)
          values (${horizon}, ${prunedAt}, ${changes}, ${runs}) returning id`
      : await tx<{ id: number }[]>`
          update sync.prunings set changes = ${changes}, runs = ${runs} where id = ${id} returning id`;
  return row?.id ?? null;
}
