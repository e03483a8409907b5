/**
 * The only writer of the mirrored tables. Pages come from several walks at once and are loaded in turn, those of one call in one
 * transaction with whatever the caller writes alongside (its checkpoint): either all of it is there or nothing. Among
 * those that wait, resources that others refer to go first, so that most references find their records here.
 *
 * Pages that Postgres refuses are loaded again record by record, so that one bad record never costs the others; what cannot be
 * stored goes to `sync.quarantine` with its payload and Postgres' reason.
 */
import PQueue from "p-queue";
import type { Sql, TransactionSql } from "../db/connect.ts";
import type { Patience } from "../db/patience.ts";
import type { ProjectSource } from "../db/schema/projects.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { withTransaction } from "../db/transaction.ts";
import { type FieldDrift, findDrift } from "../normalize/find-drift.ts";
import type { NormalizedRecord } from "../normalize/normalized.ts";
import { type NormalizedPage, normalizePage } from "../normalize/page.ts";
import type { Reference } from "../wire/resource-uri.ts";
import { RESOURCES, type Resource } from "../wire/resources.ts";
import { isDataFault, refusalOf } from "./data-fault.ts";
import type { KnownKeys } from "./known-keys.ts";
import { type LoadCounts, type Loaded, type LoadFacts, loadRecords } from "./load-records.ts";
import { quarantineRecords, type RefusedRecord } from "./quarantine.ts";
import { createRecentCopies } from "./recent-copies.ts";
import { recordDrift } from "./record-drift.ts";
import { type BuildSighting, recordTransitions, type TransitionFacts } from "./record-transitions.ts";
import { type GoneRecord, type Retired, type RetiredCounts, retireRecords } from "./retire-records.ts";
import type { Sighting } from "./sighting.ts";
import { findStale } from "./stale-sightings.ts";

export interface LoadablePage {
  records: readonly unknown[];
  /** The path and query that gave the records. */
  request: string;
  /** When the request was sent that brought the records. @default observedAt */
  askedAt?: Date;
  observedAt: Date;
  /** What `Loader.normalize` made of the records; made by `load` where it is missing. */
  normalized?: NormalizedPage;
}

export interface LoadableBatch {
  resource: Resource;
  /** In the order in which they were seen: of two sightings of a record the later one counts. */
  pages: readonly LoadablePage[];
  source: Exclude<ProjectSource, "embedded">;
}

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

interface Prepared {
  /** Each record once, as it was seen last. */
  records: Sighting[];
  /** Builds that were seen in another state before that, in the order of their states; on most pages there are none. */
  earlier: Sighting[][];
  embedded: Sighting[];
  rejected: RefusedRecord[];
  replacedNul: number;
  drift: FieldDrift[];
  /** When the last of the pages was here. */
  observedAt: string;
}

/** What the earlier states of a batch came to. */
type Before = Pick<BatchCounts, "inserted" | "restored" | "transitions">;

export function createLoader(options: LoaderOptions): Loader {
  const { sql, keys, patience = withStoreErrors } = options;
  const turns = new PQueue({ concurrency: 1 });
  const copies = createRecentCopies();

  async function inTransaction<T>(body: (tx: TransactionSql) => Promise<T>): Promise<T> {
    try {
      const result = await withTransaction(sql, body);
      keys.commit();
      return result;
    } catch (error) {
      keys.rollback();
      throw error;
    }
  }

  const normalize: Loader["normalize"] = (resource, records) =>
    normalizePage(resource, records, options.baseUrl, copies.isNewest);

  return {
    normalize,
    async load(batch, alongside) {
      const { resource, source } = batch;
      const prepared = prepareBatch(batch, normalize);
      const facts: LoadFacts = { ...options, method: "copy" };

      const finish = async (tx: TransactionSql, loaded: Loaded, rejected: Prepared["rejected"]) => {
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
        before: Before,
        loaded: Loaded,
        rejected: Prepared["rejected"],
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
      for (const { record } of prepared.embedded) copies.add(record.id, record.hash);
      if (resource === "project")
        for (const { record } of prepared.records) copies.add(record.id, record.hash);
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

function prepareBatch({ resource, pages }: LoadableBatch, normalize: Loader["normalize"]): Prepared {
  const sightings: Sighting[] = [];
  const prepared: Prepared = {
    records: [],
    earlier: [],
    embedded: [],
    rejected: [],
    replacedNul: 0,
    drift: [],
    observedAt: "",
  };
  for (const { records, request, observedAt, askedAt = observedAt, normalized } of pages) {
    const at = observedAt.toISOString();
    const asked = askedAt.toISOString();
    const page = normalized ?? normalize(resource, records);
    const seen = (record: NormalizedRecord): Sighting => ({
      record,
      askedAt: asked,
      observedAt: at,
      request,
    });
    sightings.push(...page.records.map(seen));
    prepared.embedded.push(...page.embeddedProjects.map(seen));
    prepared.rejected.push(
      ...page.rejected.map((record) => ({ ...record, resource, request, observedAt: at })),
    );
    prepared.replacedNul += page.replacedNul;
    prepared.drift.push(...findDrift(resource, page.records));
    prepared.observedAt = at;
  }
  if (resource === "build") prepared.earlier = earlierStates(sightings);
  prepared.records = latestById(sightings, () => true);
  prepared.embedded = latestById(prepared.embedded, isNotOlder);
  return prepared;
}

/** The last sighting of each id, unless `replaces` says that the earlier one stays. */
function latestById(
  sightings: readonly Sighting[],
  replaces: (later: NormalizedRecord, earlier: NormalizedRecord) => boolean,
): Sighting[] {
  const byId = new Map<string, Sighting>();
  for (const sighting of sightings) {
    const earlier = byId.get(sighting.record.id);
    // One that came again unchanged is dated as it came first: the page that held it then is not made to look stale.
    if (earlier?.record.hash === sighting.record.hash) continue;
    if (!earlier || replaces(sighting.record, earlier.record)) byId.set(sighting.record.id, sighting);
  }
  return [...byId.values()];
}

/** Of builds that came in several states the first sighting of each: the first states, the second ones, and so on, without each build's last. */
function earlierStates(sightings: readonly Sighting[]): Sighting[][] {
  const latest = new Map<string, { sighting: Sighting; turn: number }>();
  const turns: Sighting[][] = [];
  for (const sighting of sightings) {
    const { id, columns } = sighting.record;
    const before = latest.get(id);
    const hasMoved = before !== undefined && before.sighting.record.columns.state !== columns.state;
    if (hasMoved) {
      if (turns.length === before.turn) turns.push([]);
      turns[before.turn]?.push(before.sighting);
    }
    if (!before || hasMoved) latest.set(id, { sighting, turn: before ? before.turn + 1 : 0 });
  }
  return turns;
}

function* referencesOf({ records, earlier }: Prepared): Generator<Reference> {
  for (const { record } of [records, ...earlier].flat())
    for (const { target } of record.references) yield target;
}

function isNotOlder(later: NormalizedRecord, earlier: NormalizedRecord): boolean {
  return String(later.columns.modified_date ?? "") >= String(earlier.columns.modified_date ?? "");
}

/** Brings one set of states to the builds' lives, before the states that came after them. */
async function addEarlier(
  tx: TransactionSql,
  facts: LoadFacts,
  before: Before,
  loaded: Loaded,
): Promise<void> {
  before.inserted += loaded.counts.inserted;
  before.restored += loaded.counts.restored;
  before.transitions += await recordTransitions(tx, facts, loaded.moving);
}

async function loadOneByOne(
  tx: TransactionSql,
  { resource, pages, source }: LoadableBatch,
  prepared: Prepared,
  facts: LoadFacts,
  before: Before,
): Promise<{ loaded: Loaded; refused: Prepared["rejected"] }> {
  const counts: LoadCounts = { inserted: 0, updated: 0, unchanged: 0, restored: 0 };
  const moving: BuildSighting[] = [];
  let stale = 0;
  const refused: Prepared["rejected"] = [];
  const sent = pages.flatMap(({ records, request }) =>
    records.map((payload) => ({ payload: payload as { id?: unknown; project?: unknown } | null, request })),
  );
  const findSent = (of: Resource, { record, request: from }: Sighting) =>
    sent
      .filter(({ request }) => request === from)
      .map(({ payload, request }) => ({
        payload: of === resource ? payload : (payload?.project as { id?: unknown } | null),
        request,
      }))
      .findLast(({ payload }) => String(payload?.id) === record.id);
  const attempt = async (of: Resource, sighting: Sighting, from: ProjectSource): Promise<Loaded | null> => {
    const { id } = sighting.record;
    try {
      return await tx.savepoint((savepoint) => loadRecords(savepoint, of, [sighting], from, facts));
    } catch (error) {
      if (!isDataFault(error)) throw error;
      facts.keys.drop(of, id);
      const { payload, request = "" } = findSent(of, sighting) ?? {};
      const { observedAt } = sighting;
      const reason = refusalOf(error, of, id);
      refused.push({ resource: of, recordId: id, reason, payload, request, observedAt });
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
