/**
 * Removes old changes and finished runs, never transitions. Looking back to any moment after the horizon still works:
 * all changes after it stay, and for each record the newest older change, which began its oldest known state, and the
 * newest older deletion or return. The first batch stores the horizon, so a query about an earlier moment cannot give
 * a wrong answer.
 *
 * It needs no lease: runs only add changes, which are newer than the horizon, and no run is removed while it is
 * running or a later one needs it. Two prunings at the same time remove the same rows.
 */
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import { type Sql, statement, type TransactionSql, withTransaction } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";

const PRUNE_CHANGES = statement<{ deleted: number; last: RecordKey | null }>(
  "prune_changes",
  import.meta.url,
  {
    isPlannedEachTime: true,
  },
);
const PRUNE_RUNS = statement("prune_runs", import.meta.url, { isPlannedEachTime: true });
const COUNT_PRUNABLE = statement<PruneCounts>("count_prunable", import.meta.url, { isPlannedEachTime: true });

const BATCH = 5000;
/** The number of records whose changes are checked at once. */
const RECORDS = 1000;

export type PruneCounts = Record<"changes" | "runs", number>;

/** Changes and runs before `horizon` may be removed. An ISO time. */
type PruneOptions = { sql: Sql; horizon: string; prunedAt: string; signal: AbortSignal };

/** Each batch is committed by itself. Safe to repeat. Throws `StoreError`, or the signal's reason. */
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
    const deleteRuns = async (tx: TransactionSql) =>
      (await PRUNE_RUNS(tx, { horizon, resources: RESOURCES, most: BATCH })).count;
    for (let count = BATCH; count === BATCH; ) count = await removeBatch("runs", deleteRuns);
    return removed;
  });
}

/** The earliest moment that the mirror can show; null while nothing was pruned. */
export async function findHistoryBegin(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ at: string }[]>`select mirror.history_begins_at() as at`;
  return row && row.at !== "-infinity" ? row.at : null;
}

type RecordKey = { resource: Resource | ""; recordId: string };

/** Prunes the changes of the next records. `last` is the last of them; null when no records are left. */
async function deleteChanges(tx: TransactionSql, horizon: string, after: RecordKey) {
  const [row] = await PRUNE_CHANGES(tx, {
    horizon,
    afterResource: after.resource,
    afterId: after.recordId,
    records: RECORDS,
    most: BATCH,
  });
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

/** Counts what `prune` would remove, and removes nothing. Throws `StoreError`. */
export async function countPrunable(sql: Sql, horizon: string): Promise<PruneCounts> {
  return withStoreErrors("count what may be pruned", async () => {
    const [row] = await COUNT_PRUNABLE(sql, { horizon, resources: RESOURCES });
    return row ?? { changes: 0, runs: 0 };
  });
}
