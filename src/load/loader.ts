/**
 * The only writer of the mirrored tables. Pages come from several walks at once and are loaded in turn, those of one call in one
 * transaction with whatever the caller writes alongside (its checkpoint): either all of it is there or nothing. Among
 * those that wait, resources that others refer to go first, so that most references find their records here.
 *
 * Pages that Postgres refuses are loaded again record by record, so that one bad record never costs the others; what cannot be
 * stored goes to `sync.quarantine` with its payload and Postgres' reason.
 */
import { LRUCache } from "lru-cache";
import PQueue from "p-queue";
import type { Sql, TransactionSql } from "../db/connect.ts";
import type { Patience } from "../db/patience.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { withTransaction } from "../db/transaction.ts";
import { type NormalizedPage, normalizePage } from "../normalize/page.ts";
import { RESOURCES, type Resource } from "../wire/resources.ts";
import { isDataFault } from "./data-fault.ts";
import type { KnownKeys } from "./known-keys.ts";
import { type LoadCounts, type Loaded, type LoadFacts, loadRecords } from "./load-records.ts";
import { addEarlier, type EarlierCounts, loadOneByOne } from "./load-singly.ts";
import { type LoadableBatch, type PreparedBatch, prepareBatch, referencesOf } from "./prepare-batch.ts";
import { quarantineRecords } from "./quarantine.ts";
import { recordDrift } from "./record-drift.ts";
import { type BuildSighting, recordTransitions, type TransitionFacts } from "./record-transitions.ts";
import { type GoneRecord, type Retired, type RetiredCounts, retireRecords } from "./retire-records.ts";
import { findStale } from "./stale-sightings.ts";

/** So many projects at most, so that memory does not grow with them. */
const MAX_COPIES = 20_000;

export type { LoadableBatch, LoadablePage } from "./prepare-batch.ts";

export interface BatchCounts extends LoadCounts {
  transitions: number;
  /** Builds of which something later was seen already, and which are not as these pages show them. */
  stale: number;
  quarantined: number;
  replacedNul: number;
}

export interface LoaderOptions extends TransitionFacts {
  sql: Sql;
  keys: KnownKeys;
  baseUrl: URL;
  /** What to do when the database is away for a moment. @default the load fails */
  patience?: Patience;
  /** Ends each transaction; throws, and so takes it back, when this run may write no more. @default it may */
  assertMayWrite?: (tx: TransactionSql) => Promise<void>;
}

export interface Loader {
  /** Does a page's own part of the work beforehand, when the page arrives rather than when its turn comes. */
  normalize(resource: Resource, records: readonly unknown[]): NormalizedPage;
  /** Loads pages; `alongside` runs in the same transaction, after them. Throws `StoreError`. Safe to repeat. */
  load(
    batch: LoadableBatch,
    alongside?: (tx: TransactionSql, counts: Omit<BatchCounts, "transitions">) => Promise<unknown>,
  ): Promise<BatchCounts>;
  /**
   * Marks records that are on `sync.missing_records` as deleted; `alongside` runs in the same transaction, after that. Throws
   * `StoreError`. Safe to repeat.
   */
  retire(
    gone: readonly GoneRecord[],
    alongside?: (tx: TransactionSql, counts: RetiredCounts) => Promise<unknown>,
  ): Promise<Retired>;
  /**
   * Notes of open builds that their details are gone; returns the number of transitions. They are not deleted by it. Throws `StoreError`.
   * Safe to repeat.
   */
  vanish(builds: readonly BuildSighting[]): Promise<number>;
}

export function createLoader(options: LoaderOptions): Loader {
  const { sql, keys, patience = withStoreErrors } = options;
  const turns = new PQueue({ concurrency: 1 });
  /**
   * The hash of the newest copy of each project that was brought to its table lately. Embedded projects stand in
   * every record of a list; a copy that is the newest one already need be neither normalized nor looked up.
   */
  const copies = new LRUCache<string, string>({ max: MAX_COPIES });

  async function inTransaction<T>(body: (tx: TransactionSql) => Promise<T>): Promise<T> {
    try {
      const result = await withTransaction(sql, async (tx) => {
        const loaded = await body(tx);
        await options.assertMayWrite?.(tx);
        return loaded;
      });
      keys.commit();
      return result;
    } catch (error) {
      keys.rollback();
      throw error;
    }
  }

  const normalize: Loader["normalize"] = (resource, records) =>
    normalizePage(resource, records, options.baseUrl, (id, hash) => copies.get(id) === hash);

  return {
    normalize,
    async load(batch, alongside) {
      const { resource, source } = batch;
      const prepared = prepareBatch(batch, normalize);
      const facts: LoadFacts = { ...options, method: "copy" };

      const finish = async (tx: TransactionSql, loaded: Loaded, rejected: PreparedBatch["rejected"]) => {
        await quarantineRecords(tx, options.runId, rejected);
        const { drift, observedAt, replacedNul } = prepared;
        await recordDrift(tx, { resource, runId: options.runId, observedAt }, drift);
        const counts = { ...loaded.counts, stale: loaded.stale, quarantined: rejected.length, replacedNul };
        // These need not wait for one another. The last of them, before the commit, shows a failed COPY, which the
        // stream itself does not.
        const [transitions] = await Promise.all([
          recordTransitions(tx, facts, loaded.moving),
          alongside?.(tx, counts),
          tx`select 1`,
        ]);
        return { ...counts, transitions };
      };
      const loadAtOnce = () =>
        inTransaction(async (tx) => {
          await loadRecords(tx, "project", prepared.embedded, "embedded", facts);
          const before = { inserted: 0, restored: 0, transitions: 0 };
          for (const sightings of prepared.earlier) {
            const loaded = await loadRecords(tx, resource, sightings, source, facts);
            await addEarlier(tx, facts, before, loaded);
          }
          const loaded = await loadRecords(tx, resource, prepared.records, source, facts);
          return finishAfter(tx, before, loaded, prepared.rejected);
        });
      const loadSingly = () =>
        inTransaction(async (tx) => {
          const before = { inserted: 0, restored: 0, transitions: 0 };
          const singly = { ...facts, method: "insert" as const };
          const { loaded, refused } = await loadOneByOne(tx, batch, prepared, singly, before);
          return finishAfter(tx, before, loaded, [...prepared.rejected, ...refused]);
        });
      /** A build that was new and moved on within the batch counts as new. */
      const finishAfter = async (
        tx: TransactionSql,
        before: EarlierCounts,
        loaded: Loaded,
        rejected: PreparedBatch["rejected"],
      ) => {
        loaded.counts.inserted += before.inserted;
        loaded.counts.updated = Math.max(0, loaded.counts.updated - before.inserted);
        loaded.counts.restored += before.restored;
        const counts = await finish(tx, loaded, rejected);
        return { ...counts, transitions: counts.transitions + before.transitions };
      };

      const counts = await turns.add(
        // A commit whose answer was lost may have been made. Then COPY meets its own rows, a fault of the data, and what is loaded record
        // by record finds them equal: no change, no transition, no quarantine twice. Only the counts call those records unchanged.
        () =>
          patience(`load a page of ${resource}s`, async () => {
            await keys.prepare(referencesOf(prepared));
            return await loadAtOnce().catch((error: unknown) => {
              if (!isDataFault(error)) throw error;
              return loadSingly();
            });
          }),
        { priority: -RESOURCES.indexOf(resource) },
      );
      for (const { record } of prepared.embedded) copies.set(record.id, record.hash);
      if (resource === "project")
        for (const { record } of prepared.records) copies.set(record.id, record.hash);
      return counts;
    },
    // One that is deleted here already is neither counted nor noted again.
    retire: (gone, alongside) =>
      turns.add(() =>
        patience("mark records as deleted", () =>
          inTransaction(async (tx) => {
            const retired = await retireRecords(tx, options, gone);
            await alongside?.(tx, retired.counts);
            return retired;
          }),
        ),
      ),
    vanish: (builds) =>
      turns.add(() =>
        patience("note which builds are gone", () =>
          inTransaction(async (tx) => {
            const stale = await findStale(tx, options.runId, builds);
            const fresh = builds.filter(({ id }) => !stale.has(id));
            return recordTransitions(tx, options, fresh, true);
          }),
        ),
      ),
  };
}
