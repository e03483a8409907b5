/**
 * Removes old changes and finished runs, or rounds of the watch alone, never transitions. Looking back to any moment after the horizon still works:
 * all changes after it stay, and for each record the newest older change, which began its oldest known state, and the
 * newest older deletion or return. The first batch stores the horizon, so a query about an earlier moment cannot give
 * a wrong answer.
 *
 * It needs no lease: runs only add changes, which are newer than the horizon, and no run is removed while it is
 * running or a later one needs it. Two prunings at the same time remove the same rows.
 */
import { counted } from "../../base/text.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import {
  oneRow,
  type Sql,
  statement,
  type TransactionSql,
  withTransaction,
} from "../../store/connection/sql.ts";
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
const PRUNE_MOMENT = statement<{ at: string }>("prune_moment", import.meta.url);

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
    const deleteRuns = async (tx: TransactionSql) =>
      (await PRUNE_RUNS(tx, { horizon, isOfRounds: kind === "rounds", resources: RESOURCES, most: BATCH }))
        .count;
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
 * Null where the newest run that heard the time of the service ended long before it, or was far from that time: a clock may be years
 * ahead, and would have everything removed.
 */
export async function findPruneMoment(sql: Sql, now: Date): Promise<Date | null> {
  const [row] = await PRUNE_MOMENT(sql, {
    now: now.toISOString(),
    newestWithin: NEWEST_WITHIN,
    clockDiffersMs: CLOCK_DIFFERS_MS,
  });
  return row ? new Date(row.at) : null;
}

/** The earliest moment that the mirror can show; null while nothing was pruned. */
export async function findHistoryBegin(sql: Sql): Promise<string | null> {
  const { at } = await oneRow(sql<{ at: string }[]>`select mirror.history_begins_at() as at`);
  return at === "-infinity" ? null : at;
}

type RecordKey = { resource: Resource | ""; recordId: string };

/** Prunes the changes of the next records. `last` is the last of them; null when no records are left. */
async function deleteChanges(tx: TransactionSql, horizon: string, after: RecordKey) {
  return oneRow(
    PRUNE_CHANGES(tx, {
      horizon,
      afterResource: after.resource,
      afterId: after.recordId,
      records: RECORDS,
      most: BATCH,
    }),
  );
}

/** Stores what was removed so far, in one row for each pruning. A pruning that removes nothing has no row. */
async function recordPruning(
  tx: TransactionSql,
  id: number | null,
  { horizon, prunedAt }: PruneOptions,
  { changes, runs }: PruneCounts,
): Promise<number> {
  const written =
    id === null
      ? tx`insert into sync.prunings (horizon, pruned_at, changes, runs) values (${horizon}, ${prunedAt}, ${changes}, ${runs})`
      : tx`update sync.prunings set changes = ${changes}, runs = ${runs} where id = ${id}`;
  return (await oneRow(tx<{ id: number }[]>`${written} returning id`)).id;
}

/** Counts what `prune` would remove, and removes nothing. Throws `StoreError`. */
export async function countPrunable(sql: Sql, kind: PruneKind, horizon: string): Promise<PruneCounts> {
  return withStoreErrors("count what may be pruned", () =>
    oneRow(COUNT_PRUNABLE(sql, { horizon, isOfRounds: kind === "rounds", resources: RESOURCES })),
  );
}
