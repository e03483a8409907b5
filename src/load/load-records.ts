import type { TransactionSql } from "../db/connect.ts";
import type { ProjectSource } from "../db/schema/projects.ts";
import type { NormalizedRecord } from "../normalize/normalized.ts";
import type { Resource } from "../wire/resources.ts";
import type { KnownKeys } from "./known-keys.ts";
import { addLive } from "./live-count.ts";
import type { ObservedRecord } from "./observed-record.ts";
import { type Change, findChanges, hasFields, recordChanges } from "./record-changes.ts";
import type { BuildSighting, TransitionFacts } from "./record-transitions.ts";
import { replaceUnresolved, unresolvedRows } from "./references.ts";
import { findStale, type ShownState } from "./stale-sightings.ts";
import { findStored, findStoredProjects, type StoredProject, type StoredRecord } from "./stored-records.ts";
import { BUILD_LOGS, PROJECT_USERS, RECORD_TABLES, type Row } from "./tables.ts";
import { keepUserOrder } from "./user-order.ts";
import { addRows, replaceRows, type WriteMethod } from "./write-rows.ts";

export interface LoadFacts extends TransitionFacts {
  method: WriteMethod;
  keys: KnownKeys;
}

export interface LoadCounts {
  inserted: number;
  updated: number;
  unchanged: number;
  restored: number;
}

/** What was loaded, and the builds among it whose state may be new, or that are open: `recordTransitions` is for them. */
export interface Loaded {
  counts: LoadCounts;
  moving: BuildSighting[];
  /** Records that were left out though they differ: something later was seen of them already. They count as unchanged. */
  stale: number;
}

interface Sorted {
  added: ObservedRecord[];
  changed: ObservedRecord[];
  /** Deleted here, yet upstream shows them again. */
  returned: ObservedRecord[];
  unchanged: ObservedRecord[];
}

/**
 * Brings records of one resource into their tables, within the caller's transaction: new ones are added, changed ones replaced with their
 * change recorded, equal ones not touched at all. Each id must come once. The transitions of builds are left to the caller.
 */
export async function loadRecords(
  tx: TransactionSql,
  resource: Resource,
  sightings: readonly ObservedRecord[],
  source: ProjectSource,
  facts: LoadFacts,
): Promise<Loaded> {
  if (sightings.length === 0) {
    return { counts: { inserted: 0, updated: 0, unchanged: 0, restored: 0 }, moving: [], stale: 0 };
  }
  // With `insert` something was not as it was known to be: then nothing is taken for new without looking.
  const ids = sightings
    .map(({ record }) => record.id)
    .filter((id) => facts.method === "insert" || !facts.keys.isNew(resource, id));
  const stored = await findAnyStored(tx, resource, ids);
  const sorted = sortRecords(sightings, stored, source);
  if (resource === "project") sorted.changed = await keepUserOrder(tx, sorted.changed);
  const { moving, stale } =
    resource === "build" ? await leaveOutStale(tx, sorted, facts.runId) : { moving: [], stale: 0 };

  // The record's own columns become the row: copying each of them would be a tenth of the work of a first night.
  const toRow = ({ record, observedAt }: ObservedRecord): Row => {
    const known = stored.get(record.id);
    const row: Row = record.columns;
    row.id = record.id;
    if (resource === "project") {
      row.source = source;
      row.listed = source === "list" || (known as StoredProject | undefined)?.listed === true;
    } else if (resource !== "user") {
      setKeys(row, resource, record, facts.keys);
    }
    row.extra = record.extra;
    row.first_seen_at = known?.firstSeenAt ?? observedAt;
    row.changed_at = observedAt;
    row.first_seen_run_id = facts.runId;
    row.changed_run_id = facts.runId;
    row.deleted_at = null;
    row.record_hash = record.hash;
    return row;
  };

  const { changes, equal } = await replaceChanged(tx, resource, sorted.changed, toRow, facts);
  changes.push(...(await restoreReturned(tx, resource, sorted.returned, facts.runId)));
  await recordChanges(tx, { resource, runId: facts.runId }, changes);
  for (const { record } of sorted.added) facts.keys.add(resource, record.id);
  await addRows(tx, RECORD_TABLES[resource], sorted.added.map(toRow), facts.method);
  await loadSatellites(tx, resource, sorted, facts);
  if (resource === "project") await markListed(tx, sightings, stored as Map<string, StoredProject>, source);
  await addLive(tx, resource, sorted.added.length + sorted.returned.length);

  return {
    counts: {
      inserted: sorted.added.length,
      updated: sorted.changed.length - equal,
      unchanged: sorted.unchanged.length + equal,
      restored: sorted.returned.length,
    },
    moving,
    stale,
  };
}

/** Of two sightings of a build the later one counts, whichever comes first. */
async function leaveOutStale(
  tx: TransactionSql,
  sorted: Sorted,
  runId: number,
): Promise<Pick<Loaded, "moving" | "stale">> {
  const open = sorted.unchanged.filter(({ record: { columns } }) => isOpenState(columns.state));
  const stale = await findStale(tx, runId, [...sorted.changed, ...open].map(toShownState));
  const isFresh = ({ record }: ObservedRecord) => !stale.has(record.id);
  const late = sorted.changed.filter((sighting) => !isFresh(sighting));
  sorted.unchanged.push(...late);
  sorted.changed = sorted.changed.filter(isFresh);
  sorted.returned = sorted.returned.filter(isFresh);
  const moving = [...sorted.added, ...sorted.changed, ...open.filter(isFresh)];
  return { moving: moving.map(toBuildSighting), stale: late.length };
}

/** A build without a state is not open: nothing says that it will ever finish. */
function isOpenState(state: unknown): boolean {
  return state !== null && state !== "finished";
}

function toBuildSighting({ record, askedAt, observedAt, request }: ObservedRecord): BuildSighting {
  return { id: record.id, askedAt, observedAt, request };
}

function toShownState(sighting: ObservedRecord): ShownState {
  return { ...toBuildSighting(sighting), state: sighting.record.columns.state };
}

/** What loading these records would count, without writing anything. */
export async function compareRecords(
  tx: TransactionSql,
  resource: Resource,
  records: readonly NormalizedRecord[],
  source: ProjectSource,
): Promise<LoadCounts> {
  const sightings = records.map((record) => ({ record, askedAt: "", observedAt: "", request: null }));
  const stored = await findAnyStored(
    tx,
    resource,
    records.map(({ id }) => id),
  );
  const { added, changed, returned, unchanged } = sortRecords(sightings, stored, source);
  return {
    inserted: added.length,
    updated: changed.length,
    unchanged: unchanged.length,
    restored: returned.length,
  };
}

async function findAnyStored(
  tx: TransactionSql,
  resource: Resource,
  ids: readonly string[],
): Promise<Map<string, StoredRecord>> {
  if (ids.length === 0) return new Map();
  return resource === "project" ? findStoredProjects(tx, ids) : findStored(tx, resource, ids);
}

function sortRecords(
  sightings: readonly ObservedRecord[],
  stored: ReadonlyMap<string, StoredRecord>,
  source: ProjectSource,
): Sorted {
  const sorted: Sorted = { added: [], changed: [], returned: [], unchanged: [] };
  for (const sighting of sightings) {
    const { record } = sighting;
    const known = stored.get(record.id);
    if (!known) {
      sorted.added.push(sighting);
      continue;
    }
    if (known.hash === record.hash || !isNewer(record, known, source)) sorted.unchanged.push(sighting);
    else sorted.changed.push(sighting);
    // An embedded copy proves that somebody still points to the project, not that upstream still has it.
    if (known.deleted && source !== "embedded") sorted.returned.push(sighting);
  }
  return sorted;
}

/**
 * Of two copies of a project the newest `modified_date` wins, and a listed one beats an embedded one of the same age. A
 * listed copy always replaces what a list or a detail said before. Other resources come from one place alone.
 */
function isNewer(record: NormalizedRecord, known: StoredRecord, source: ProjectSource): boolean {
  if (!("source" in known)) return true;
  const project = known as StoredProject;
  const isEmbedded = source === "embedded";
  if (!isEmbedded && project.source !== "embedded") return true;
  const incoming = padFraction(record.columns.modified_date);
  const here = project.modifiedDate ?? "";
  if (incoming !== here) return incoming > here;
  return !isEmbedded || project.source === "embedded";
}

/** Local times of equal length compare as texts. */
function padFraction(date: unknown): string {
  if (typeof date !== "string") return "";
  return date.includes(".") ? date : `${date}.000000`;
}

/** Sets the foreign keys whose records are here; a reference that dangles leaves its key null. */
function setKeys(row: Row, resource: Resource, record: NormalizedRecord, keys: KnownKeys): void {
  row.project_id = record.projectId;
  if (resource === "build") row.version_id = null;
  for (const { field, target } of record.references) row[`${field}_id`] = keys.resolve(target);
}

/**
 * Replaces rows whose hash differs, and gives their changes. `equal` of them differ in nothing that upstream sent: another version of the
 * normalizer hashed them, or a list shows what was embedded before. They keep when they were changed.
 */
async function replaceChanged(
  tx: TransactionSql,
  resource: Resource,
  changed: readonly ObservedRecord[],
  toRow: (sighting: ObservedRecord) => Row,
  facts: LoadFacts,
): Promise<{ changes: Change[]; equal: number }> {
  if (changed.length === 0) return { changes: [], equal: 0 };
  const rows = changed.map(toRow);
  const changes = await findChanges(tx, resource, changed, rows);
  const differing = new Set(changes.filter(hasFields).map(({ recordId }) => recordId));
  const differs = ({ id }: Row) => differing.has(String(id));
  const equal = rows.filter((row) => !differs(row));
  const kept = ["first_seen_at", "first_seen_run_id", "deleted_at"];
  await replaceRows(tx, RECORD_TABLES[resource], rows.filter(differs), kept);
  await replaceRows(tx, RECORD_TABLES[resource], equal, [...kept, "changed_at", "changed_run_id"]);
  const ids = changed.map(({ record }) => record.id);
  if (resource === "build") await replaceRows(tx, BUILD_LOGS, changed.map(toLog), []);
  if (resource === "project")
    await tx`delete from mirror.project_users where project_id = any (${ids}::text[])`;
  const unresolved = changed.flatMap(({ record }) => unresolvedRows(resource, record, facts.keys));
  await replaceUnresolved(tx, resource, ids, unresolved, facts.method);
  return { changes, equal: equal.length };
}

async function restoreReturned(
  tx: TransactionSql,
  resource: Resource,
  returned: readonly ObservedRecord[],
  runId: number,
): Promise<Change[]> {
  if (returned.length === 0) return [];
  const sightings = returned.map(({ record, observedAt }) => ({ id: record.id, at: observedAt }));
  await tx.unsafe(
    `update ${RECORD_TABLES[resource].name} as record set deleted_at = null, changed_at = returned.at, changed_run_id = $2
     from jsonb_to_recordset($1::text::jsonb) as returned (id text, at timestamptz) where record.id = returned.id`,
    [JSON.stringify(sightings), runId],
  );
  return sightings.map(({ id, at }) => ({
    recordId: id,
    kind: "restored",
    observedAt: at,
    before: null,
    after: null,
  }));
}

const toLog = ({ record }: ObservedRecord): Row => ({ build_id: record.id, ...record.logs });

/** What hangs on the records of a resource: a build's texts, a project's administrators, and references to what is not here. */
async function loadSatellites(
  tx: TransactionSql,
  resource: Resource,
  sorted: Sorted,
  facts: LoadFacts,
): Promise<void> {
  if (resource === "build") await addRows(tx, BUILD_LOGS, sorted.added.map(toLog), facts.method);
  if (resource === "project") {
    const users = [...sorted.added, ...sorted.changed].flatMap(({ record }) =>
      record.references.map(({ position, uri, target }) => ({
        project_id: record.id,
        position,
        user_uri: uri,
        user_id: facts.keys.resolve(target),
      })),
    );
    await addRows(tx, PROJECT_USERS, users, facts.method);
  }
  const unresolved = sorted.added.flatMap(({ record }) => unresolvedRows(resource, record, facts.keys));
  await replaceUnresolved(tx, resource, [], unresolved, facts.method);
}

/** A project that the list shows, equal to the copy that came embedded, is from then on a listed one. */
async function markListed(
  tx: TransactionSql,
  sightings: readonly ObservedRecord[],
  stored: ReadonlyMap<string, StoredProject>,
  source: ProjectSource,
): Promise<void> {
  if (source !== "list") return;
  const unlisted = sightings.filter(({ record }) => stored.get(record.id)?.listed === false);
  const equal = sightings.filter(({ record }) => {
    const known = stored.get(record.id);
    return known?.hash === record.hash && known.source !== "list";
  });
  const idsOf = (some: readonly ObservedRecord[]) => some.map(({ record }) => record.id);
  if (unlisted.length > 0) {
    await tx`update mirror.projects set listed = true where id = any (${idsOf(unlisted)}::text[])`;
  }
  if (equal.length > 0) {
    await tx`update mirror.projects set source = 'list' where id = any (${idsOf(equal)}::text[])`;
  }
}
