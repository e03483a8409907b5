/**
 * Removes old changes and finished runs, never transitions (`prunable.ts` says which). The transaction of the
 * first batch stores the horizon, so that a query about an earlier moment cannot give a wrong answer.
 *
 * It needs no run lock. Runs only add changes, which are newer than the horizon, and never read them. A
 * running run cannot lose a run that it needs. Two prunings at the same time remove the same rows.
 */

import type { Resource } from "../../resources/resources.ts";
import { compose, nameOf, runStatement } from "../../store/connection/run-statement.ts";
import type { Sql, TransactionSql } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { withTransaction } from "../../store/connection/transaction.ts";
import { changes, runs } from "../../store/schema/index.ts";
import { type PruneCounts, prunableChanges, prunableRuns } from "./prunable.ts";

/** The most changes or runs removed in one transaction. */
const BATCH = 5000;
/** The number of records whose changes are checked at once. */
const RECORDS = 1000;

export interface PruneOptions {
  sql: Sql;
  /** Older changes and runs may be removed. An ISO time. */
  horizon: string;
  /** When the pruning was requested. An ISO time. */
  prunedAt: string;
  signal: AbortSignal;
}

/**
 * Removes old changes and runs, batch by batch. Each batch is committed by itself, also when a later one
 * fails or the signal is aborted. Safe to repeat. Throws `StoreError`, or the signal's reason.
 */
export async function prune(options: PruneOptions): Promise<PruneCounts> {
  const { sql, horizon, signal } = options;
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
    for (let after: RecordKey | null = { resource: "", recordId: "" }; after !== null; ) {
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
    let count = BATCH;
    while (count === BATCH) count = await removeBatch("runs", (tx) => deleteRuns(tx, horizon));
    return removed;
  });
}

/** The earliest moment that the mirror can show; null while nothing was pruned. */
export async function findHistoryBegin(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ at: string }[]>`select mirror.history_begins_at() as at`;
  return row && row.at !== "-infinity" ? row.at : null;
}

interface RecordKey {
  resource: Resource | "";
  recordId: string;
}

/** Prunes the changes of the next records. `last` is the last of them; null when no records are left. */
async function deleteChanges(tx: TransactionSql, horizon: string, after: RecordKey) {
  const key = compose`${nameOf(changes.resource)}, ${nameOf(changes.record_id)}`;
  const ofRecords = compose`record join ${changes} using (${key})`;
  const [row] = await runStatement<{ deleted: number; last: RecordKey | null }>(
    tx,
    compose`
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
      ) as last`,
  );
  return row ?? { deleted: 0, last: null };
}

async function deleteRuns(tx: TransactionSql, horizon: string): Promise<number> {
  const { count } = await runStatement(
    tx,
    compose`
      delete from ${runs}
      where ${runs.id} in (select id from (${prunableRuns(horizon)}) as run order by id limit ${BATCH})`,
  );
  return count;
}

/** Stores what was removed so far, in one row for each pruning. A pruning that removes nothing has no row. */
async function recordPruning(
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
