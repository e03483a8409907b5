/**
 * The only writer of the mirrored tables. Pages come from several walks at once and are loaded one call after
 * another, each in one transaction with the caller's own writes (its checkpoint). Among waiting calls, resources that
 * others refer to go first, so that most references find their records. Pages that Postgres refuses are loaded again
 * record by record; one that cannot be stored goes to `sync.quarantine`.
 */
import PQueue from "p-queue";
import type { StoreMeter } from "../../base/metrics/meters.ts";
import { recordId } from "../../resources/record-id.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import type { Patience } from "../../store/connection/patience.ts";
import { type Sql, type TransactionSql, withTransaction } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import type { ProjectSource } from "../../store/schema/records.ts";
import { normalizePage } from "../normalize/page.ts";
import type { LoadCounts, ObservedRecord } from "./compare-records.ts";
import type { KnownKeys } from "./known-keys.ts";
import { type Loaded, type LoadFacts, loadRecords } from "./load-records.ts";
import { type LoadableBatch, type PreparedBatch, prepareBatch, referencesOf } from "./prepare-batch.ts";
import { createProjectSightings, type RunStart } from "./project-sightings.ts";
import { isDataFault, quarantineRecords, type RefusedRecord, refusalOf } from "./quarantine.ts";
import { recordDrift } from "./record-drift.ts";
import {
  type BuildSighting,
  findStale,
  recordTransitions,
  type TransitionFacts,
} from "./record-transitions.ts";
import { type GoneRecord, type RetiredCounts, retireRecords } from "./retire-records.ts";
import { createUnreadFields } from "./unread-fields.ts";

export type { LoadableBatch, LoadablePage } from "./prepare-batch.ts";

export interface BatchCounts extends LoadCounts {
  transitions: number;
  stale: number;
  quarantined: number;
  /** The ids of records with characters in the place of bytes that did not fit; "" for a record without an id. */
  damaged: string[];
  replacedNul: number;
  /** Whether a field could be read in no record so far, and was read before. */
  isUnread: boolean;
}

interface LoaderOptions extends TransitionFacts, RunStart {
  sql: Sql;
  keys: KnownKeys;
  baseUrl: URL;
  /** How to wait for a database that is away. @default the load fails */
  patience?: Patience;
  /** Called near the end of each transaction. Throws, which rolls it back, when this run may no longer write. */
  assertMayWrite?: (tx: TransactionSql) => Promise<void>;
  meter?: StoreMeter | undefined;
}

type Alongside<Counts> = (tx: TransactionSql, counts: Counts) => Promise<unknown>;

export type Loader = ReturnType<typeof createLoader>;

/** What is called here throws `StoreError`, and is safe to repeat. `alongside` runs in the same transaction, after it. */
export function createLoader(options: LoaderOptions) {
  const { sql, keys, runId, sourceTimezone, clockAhead, patience = withStoreErrors } = options;
  const turns = new PQueue({ concurrency: 1 });
  /** Most embedded copies of a project equal the newest one, and need no normalizing and no look-up. */
  const sightings = createProjectSightings(options);
  const unread = createUnreadFields();
  /**
   * The hashes of each list's newest batch. Pages overlap, so the next batch begins with records of it, which need no
   * look-up. Projects do: two kinds of copies are told apart. So do open builds: each sighting counts.
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

  return {
    /** For a page that has arrived, before its turn to load. */
    normalize,
    async load(batch: LoadableBatch, alongside?: Alongside<Omit<BatchCounts, "transitions">>) {
      const { resource, source } = batch;
      const facts: LoadFacts = {
        ...{ runId, sourceTimezone, clockAhead, keys, sightings },
        method: "copy",
        isJustStored: (of, { id, hash, columns }) =>
          newest.get(of)?.get(id) === hash && (of !== "build" || columns.state === "finished"),
      };

      type Tried = Awaited<ReturnType<typeof loadOneByOne>>;
      type Try = (tx: TransactionSql, prepared: PreparedBatch, before: EarlierCounts) => Promise<Tried>;
      const loadAtOnce: Try = async (tx, prepared, before) => {
        await loadRecords(tx, "project", prepared.embedded, "embedded", facts);
        for (const states of prepared.earlier) {
          const loaded = await loadRecords(tx, resource, states, source, facts);
          await addEarlier(tx, facts, before, loaded);
        }
        return { loaded: await loadRecords(tx, resource, prepared.records, source, facts), refused: [] };
      };
      const loadSingly: Try = (tx, prepared, before) =>
        loadOneByOne(tx, batch, prepared, { ...facts, method: "insert" }, before);
      const attempt = (prepared: PreparedBatch, tryLoad: Try) =>
        inTransaction(async (tx) => {
          const isUnread = await unread.find(tx, resource);
          for (const copy of prepared.repeated) sightings.note(copy, "embedded");
          const before = { inserted: 0, restored: 0, transitions: 0 };
          const { loaded, refused } = await tryLoad(tx, prepared, before);
          // A build that is new and changed its state within the batch counts as new.
          loaded.counts.inserted += before.inserted;
          loaded.counts.updated = Math.max(0, loaded.counts.updated - before.inserted);
          loaded.counts.restored += before.restored;
          const rejected = [...prepared.rejected, ...refused];
          await quarantineRecords(tx, runId, rejected);
          const { damaged, drift, observedAt, replacedNul } = prepared;
          await recordDrift(tx, { resource, runId, observedAt }, drift);
          const { counts: stored, stale } = loaded;
          const counts = { ...stored, stale, quarantined: rejected.length, damaged, replacedNul, isUnread };
          // In parallel. The last statement before the commit shows a failed COPY, because the stream does not.
          const [transitions] = await Promise.all([
            recordTransitions(tx, facts, loaded.moving),
            alongside?.(tx, counts),
            options.assertMayWrite?.(tx),
            tx`select 1`,
          ]);
          return { ...counts, transitions: transitions + before.transitions };
        });

      let stored: PreparedBatch["records"] = [];
      const counts = await turns.add(
        // A commit whose answer was lost may have succeeded. Then COPY finds its own rows and fails with a data fault, and
        // loading record by record finds them equal. Only the counts show those records as unchanged.
        async () => {
          const from = performance.now();
          // Not before its turn: which copies of projects are current changes with each load.
          const prepared = prepareBatch(batch, normalize, sightings.isCurrent);
          stored = prepared.records;
          const listed = source === "list" ? stored : [];
          unread.add(
            resource,
            listed.map(({ record }) => record),
          );
          const loaded = await patience(`load a page of ${resource}s`, async () => {
            await keys.prepare(referencesOf(prepared));
            return await attempt(prepared, loadAtOnce).catch((error: unknown) => {
              if (!isDataFault(error)) throw error;
              return attempt(prepared, loadSingly);
            });
          });
          options.meter?.loaded(resource, (performance.now() - from) / 1000);
          return loaded;
        },
        { priority: -RESOURCES.indexOf(resource) },
      );
      if (resource !== "project" && counts.quarantined + counts.stale === 0)
        newest.set(resource, new Map(stored.map(({ record }) => [record.id, record.hash])));
      return counts;
    },
    /** For a page that was skipped unparsed. Returns the projects that must be asked for again. */
    async noteSkipped(resource: Resource, ids: readonly string[], askedAt: Date): Promise<string[]> {
      unread.skip(resource);
      return resource === "project" ? turns.add(() => sightings.noteSkipped(ids, askedAt)) : [];
    },
    /** The fields that were read before, and in no record of this run. */
    unread: unread.lost,
    unnamed: unread.unnamed,
    /** Marks missing records as deleted. */
    retire: (gone: readonly GoneRecord[], alongside?: Alongside<RetiredCounts>) =>
      inTurn("mark records as deleted", async (tx) => {
        newest.clear();
        const retired = await retireRecords(tx, options, gone);
        await alongside?.(tx, retired.counts);
        return retired;
      }),
    /** Stores that details of builds are gone. Returns the number of transitions. */
    vanish: (builds: readonly BuildSighting[]) =>
      inTurn("record which builds are gone", async (tx) => {
        const stale = await findStale(tx, runId, builds);
        const fresh = builds.filter(({ id }) => !stale.has(id));
        return recordTransitions(tx, options, fresh, true);
      }),
  };
}

type EarlierCounts = Record<"inserted" | "restored" | "transitions", number>;

/** Records the transitions of one set of earlier states, before the later states of the same builds. */
async function addEarlier(tx: TransactionSql, facts: LoadFacts, before: EarlierCounts, loaded: Loaded) {
  before.inserted += loaded.counts.inserted;
  before.restored += loaded.counts.restored;
  before.transitions += await recordTransitions(tx, facts, loaded.moving);
}

/** Loads a refused batch record by record, each in a savepoint. Throws errors that no record caused. */
async function loadOneByOne(
  tx: TransactionSql,
  { resource, pages, source }: LoadableBatch,
  prepared: PreparedBatch,
  facts: LoadFacts,
  before: EarlierCounts,
): Promise<{ loaded: Loaded; refused: RefusedRecord[] }> {
  const counts: LoadCounts = { inserted: 0, updated: 0, unchanged: 0, restored: 0 };
  const moving: BuildSighting[] = [];
  let stale = 0;
  const refused: RefusedRecord[] = [];
  const sent = pages.flatMap(({ records, request }) =>
    records.map((payload) => ({ payload: payload as { id?: unknown; project?: unknown } | null, request })),
  );
  const findSent = (of: Resource, { record, request: from }: ObservedRecord) =>
    sent
      .filter(({ request }) => request === from)
      .map(({ payload }) => (of === resource ? payload : (payload?.project as { id?: unknown } | null)))
      .findLast((payload) => recordId(payload) === record.id);
  const attempt = async (of: Resource, one: ObservedRecord, from: ProjectSource): Promise<Loaded | null> => {
    const { id } = one.record;
    try {
      return await tx.savepoint((savepoint) => loadRecords(savepoint, of, [one], from, facts));
    } catch (error) {
      if (!isDataFault(error)) throw error;
      facts.keys.drop(of, id);
      const { askedAt, observedAt, request } = one;
      // So that each further page with this copy need not try it again.
      if (of === "project") facts.sightings?.note({ ...one.record, askedAt }, from);
      const about = { resource: of, recordId: id, reason: refusalOf(error, of, id) };
      refused.push({ ...about, payload: findSent(of, one), request: request ?? "", observedAt });
      return null;
    }
  };
  for (const project of prepared.embedded) await attempt("project", project, "embedded");
  for (const record of prepared.earlier.flat()) {
    const one = await attempt(resource, record, source);
    if (one) await addEarlier(tx, facts, before, one);
  }
  for (const record of prepared.records) {
    const one = await attempt(resource, record, source);
    for (const key of Object.keys(counts) as (keyof LoadCounts)[]) counts[key] += one?.counts[key] ?? 0;
    moving.push(...(one?.moving ?? []));
    stale += one?.stale ?? 0;
  }
  return { loaded: { counts, moving, stale }, refused };
}
