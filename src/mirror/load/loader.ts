/**
 * The only writer of the mirrored tables. Pages come from several walks at once and are loaded one call after
 * another, each in one transaction with the caller's own writes (its checkpoint). Among waiting calls, resources that
 * others refer to go first, so that most references find their records. Pages that Postgres refuses are loaded again
 * record by record; one that cannot be stored goes to `sync.quarantine`.
 */
import PQueue from "p-queue";
import type { StoreMeter } from "../../base/metrics/meters.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import type { Patience } from "../../store/connection/patience.ts";
import { type Sql, type TransactionSql, withTransaction } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { type NormalizedPage, normalizePage } from "../normalize/page.ts";
import type { LoadCounts } from "./compare-records.ts";
import type { KnownKeys } from "./known-keys.ts";
import { loadBatch } from "./load-batch.ts";
import type { LoadFacts } from "./load-records.ts";
import { type LoadableBatch, type PreparedBatch, prepareBatch, referencesOf } from "./prepare-batch.ts";
import { createProjectSightings, type RunStart } from "./project-sightings.ts";
import { isDataFault, quarantineRecords } from "./quarantine.ts";
import { recordDrift } from "./record-drift.ts";
import {
  type BuildSighting,
  findStale,
  isKnownFinal,
  recordTransitions,
  type TransitionFacts,
} from "./record-transitions.ts";
import { type GoneRecord, type Retired, type RetiredCounts, retireRecords } from "./retire-records.ts";
import { createUnreadFields, type UnreadFields } from "./unread-fields.ts";
import type { WriteMethod } from "./write-rows.ts";

export type { LoadableBatch, LoadablePage } from "./prepare-batch.ts";

export interface BatchCounts extends LoadCounts {
  stale: number;
  /** Builds with a text that became empty. */
  emptied: number;
  quarantined: number;
  /** The ids of records with characters in the place of bytes that did not fit; "" for a record without an id. */
  damaged: string[];
  replacedNul: number;
  /** A field that was read before could be read in no record so far. */
  isUnread: boolean;
}

/** The caller's own writes, in the transaction of a load and at its end. Those of a load prove that this run may write. */
type Alongside<Counts> = (tx: TransactionSql, counts: Counts) => Promise<unknown>;

/** Its calls that write throw `StoreError`, and are safe to repeat. */
export interface Loader {
  /** For a page that has arrived, before its turn to load. */
  normalize(resource: Resource, records: readonly unknown[]): NormalizedPage;
  load(
    batch: LoadableBatch,
    alongside?: Alongside<BatchCounts>,
  ): Promise<BatchCounts & { transitions: number }>;
  /** For a page that was skipped unparsed. Returns the projects that must be asked for again. */
  noteSkipped(resource: Resource, ids: readonly string[], askedAt: Date): Promise<string[]>;
  /** Marks missing records as deleted. */
  retire(gone: readonly GoneRecord[], alongside?: Alongside<RetiredCounts>): Promise<Retired>;
  /** Stores that details of builds are gone. Returns the number of transitions. */
  vanish(builds: readonly BuildSighting[]): Promise<number>;
  readonly unread: Pick<UnreadFields, "lost" | "unnamed">;
}

interface LoaderOptions extends Omit<TransitionFacts, "startedAt">, RunStart {
  sql: Sql;
  keys: KnownKeys;
  baseUrl: URL;
  /** The most milliseconds that a replica of the service may be behind. @default 0 */
  replicaLagMs?: number;
  /** See `ReadAs`. @default none */
  ignoredFields?: readonly string[] | null;
  /** Waits for a database that is away. @default the load fails */
  patience?: Patience;
  /** Called near the end of each transaction. Throws, which rolls it back, when this run may no longer write. */
  assertMayWrite?: (tx: TransactionSql) => Promise<void>;
  meter?: StoreMeter | undefined;
}

export function createLoader(options: LoaderOptions): Loader {
  const {
    sql,
    keys,
    runId,
    sourceTimezone,
    clockAhead,
    isFinal = isKnownFinal,
    patience = withStoreErrors,
  } = options;
  const turns = new PQueue({ concurrency: 1 });
  /** Most embedded copies of a project equal the newest one, and need no normalizing and no look-up. */
  const sightings = createProjectSightings(options);
  const unread = createUnreadFields();
  /**
   * The hashes of each list's newest batch. Pages overlap, so the next batch begins with records of it, which need no
   * look-up. Projects need one: a list and an embedded copy have two forms. So do open builds: each sighting counts.
   */
  const newest = new Map<Resource, Map<string, string>>();

  async function inTransaction<T>(body: (tx: TransactionSql) => Promise<T>): Promise<T> {
    try {
      const result = await withTransaction(sql, body);
      keys.commit();
      sightings.commit();
      return result;
    } catch (error) {
      keys.rollback();
      sightings.rollback();
      throw error;
    }
  }

  const inTurn = <T>(doing: string, body: (tx: TransactionSql) => Promise<T>): Promise<T> =>
    turns.add(() =>
      patience(doing, () =>
        inTransaction(async (tx) => {
          const result = await body(tx);
          await options.assertMayWrite?.(tx);
          return result;
        }),
      ),
    );

  const normalize = (resource: Resource, records: readonly unknown[]) =>
    normalizePage(resource, records, options, sightings.isCurrent);

  function loadIn(
    batch: LoadableBatch,
    prepared: PreparedBatch,
    method: WriteMethod,
    alongside: Alongside<BatchCounts> | undefined,
  ) {
    const { resource } = batch;
    const { damaged, replacedNul, observedAt, drift } = prepared;
    const facts: LoadFacts = {
      runId,
      startedAt: options.startedAt,
      sourceTimezone,
      clockAhead,
      isFinal,
      ignoredFields: options.ignoredFields ?? null,
      method,
      keys,
      sightings,
      replicaLagMs: options.replicaLagMs,
      isJustStored: (of, { id, hash, columns }) =>
        newest.get(of)?.get(id) === hash && (of !== "build" || isFinal(columns.state)),
    };
    return inTransaction(async (tx) => {
      const isUnread = await unread.find(tx, resource);
      for (const copy of prepared.repeated) sightings.note(copy, "embedded");
      const loaded = await loadBatch(tx, batch, prepared, facts);
      const rejected = [...prepared.rejected, ...loaded.refused];
      await quarantineRecords(tx, runId, rejected);
      await recordDrift(tx, { resource, runId, observedAt }, drift);
      const { counts: stored, stale, emptied } = loaded;
      const counts = {
        ...stored,
        stale,
        emptied,
        quarantined: rejected.length,
        damaged,
        replacedNul,
        isUnread,
      };
      // The proof, or another statement, comes last: it shows a failed COPY, because the stream does not.
      const prove = () => options.assertMayWrite?.(tx) ?? tx`select 1`;
      const [transitions] = await Promise.all([
        recordTransitions(tx, facts, loaded.moving),
        alongside ? alongside(tx, counts) : prove(),
      ]);
      return { ...counts, transitions: loaded.transitions + transitions };
    });
  }

  return {
    normalize,
    load: (batch, alongside) => {
      const { resource, source } = batch;
      const load = async () => {
        const from = performance.now();
        // Not before its turn: which copies of projects are current changes with each load.
        const prepared = prepareBatch(batch, normalize, sightings.isCurrent);
        const records = prepared.records.map(({ record }) => record);
        unread.add(resource, source === "list" ? records : []);
        // A commit whose answer was lost may have succeeded. Then COPY finds its own rows and fails with a data fault, and
        // loading record by record finds them equal. Only the counts show those records as unchanged.
        const counts = await patience(`load a page of ${resource}s`, async () => {
          await keys.prepare(referencesOf(prepared));
          return await loadIn(batch, prepared, "copy", alongside).catch((error: unknown) => {
            if (!isDataFault(error)) throw error;
            return loadIn(batch, prepared, "insert", alongside);
          });
        });
        if (resource !== "project" && counts.quarantined + counts.stale === 0)
          newest.set(resource, new Map(records.map(({ id, hash }) => [id, hash])));
        options.meter?.loaded(resource, (performance.now() - from) / 1000);
        return counts;
      };
      return turns.add(load, { priority: -RESOURCES.indexOf(resource) });
    },
    async noteSkipped(resource, ids, askedAt) {
      unread.skip(resource);
      return resource === "project" ? turns.add(() => sightings.noteSkipped(ids, askedAt)) : [];
    },
    retire: (gone, alongside) =>
      inTurn("mark records as deleted", async (tx) => {
        newest.clear();
        const retired = await retireRecords(tx, options, gone);
        await alongside?.(tx, retired.counts);
        return retired;
      }),
    vanish: (builds) =>
      inTurn("record which builds are gone", async (tx) => {
        const stale = await findStale(tx, options, builds);
        const fresh = builds.filter(({ id }) => !stale.has(id));
        return recordTransitions(tx, options, fresh, true);
      }),
    unread,
  };
}
