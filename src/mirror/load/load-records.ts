import type { Resource } from "../../resources/resources.ts";
import { compose, nameOf, runStatement } from "../../store/connection/run-statement.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { ProjectSource } from "../../store/schema/records.ts";
import type { NormalizedRecord } from "../normalize/record.ts";
import type { KnownKeys } from "./known-keys.ts";
import { addLive } from "./live-count.ts";
import type { ObservedRecord } from "./observed-record.ts";
import { isOtherForm, type ProjectSightings } from "./project-sightings.ts";
import { type Change, findChanges, hasFields, recordChanges } from "./record-changes.ts";
import type { BuildSighting, TransitionFacts } from "./record-transitions.ts";
import { replaceUnresolved, unresolvedRows } from "./references.ts";
import { findStale, type ShownState } from "./stale-sightings.ts";
import { findStored, findStoredProjects, type StoredProject, type StoredRecord } from "./stored-records.ts";
import { BUILD_LOGS, PROJECT_USERS, RECORD_TABLES, recordsAs, type TableRow, URI_KEYS } from "./tables.ts";
import { keepUserOrder } from "./user-order.ts";
import { addRows, replaceRows, type WriteMethod } from "./write-rows.ts";

export interface LoadFacts extends TransitionFacts {
  method: WriteMethod;
  keys: KnownKeys;
  /** Decides between copies of a project. @default the copy is later than the stored one */
  sightings?: ProjectSightings;
  /** Whether the batch before this one stored the record as it is here. @default no record */
  isJustStored?: (resource: Resource, record: NormalizedRecord) => boolean;
}

export interface LoadCounts {
  inserted: number;
  updated: number;
  unchanged: number;
  restored: number;
}

/** `moving`: builds that are open or whose state may be new. Pass them to `recordTransitions`. */
export interface Loaded {
  counts: LoadCounts;
  moving: BuildSighting[];
  /** Changed records that were skipped because something newer is known already. They count as unchanged. */
  stale: number;
}

interface Sorted {
  added: ObservedRecord[];
  changed: ObservedRecord[];
  /** Deleted here, but upstream shows them again. */
  returned: ObservedRecord[];
  unchanged: ObservedRecord[];
}

/**
 * Loads records of one resource into their tables, within the caller's transaction. New records are added,
 * changed ones are replaced and their change is recorded, equal ones are not touched. Each id must come once.
 * The caller records the transitions of builds.
 */
export async function loadRecords(
  tx: TransactionSql,
  resource: Resource,
  observed: readonly ObservedRecord[],
  source: ProjectSource,
  facts: LoadFacts,
): Promise<Loaded> {
  if (observed.length === 0) {
    return { counts: { inserted: 0, updated: 0, unchanged: 0, restored: 0 }, moving: [], stale: 0 };
  }
  // `insert` is used after a failed load. Then what is known may be wrong, so every id is looked up.
  const isTrusting = facts.method === "copy";
  const others = observed.filter(({ record }) => !(isTrusting && facts.isJustStored?.(resource, record)));
  const ids = others
    .map(({ record }) => record.id)
    .filter((id) => !(isTrusting && facts.keys.isNew(resource, id)));
  const stored = await findAnyStored(tx, resource, ids);
  const isLater = (one: ObservedRecord, known: StoredRecord) =>
    resource !== "project" || (facts.sightings?.isLater(one, known as StoredProject, source) ?? true);
  const sorted = sortRecords(others, stored, source, isLater);
  if (resource === "project") sorted.changed = await keepUserOrder(tx, sorted.changed);
  const { moving, stale } =
    resource === "build" ? await leaveOutStale(tx, sorted, facts.runId) : { moving: [], stale: 0 };

  // The columns of the record become the row: copying them would be a tenth of the work of a first night.
  const toRow = ({ record, observedAt }: ObservedRecord): TableRow => {
    const known = stored.get(record.id);
    const row: TableRow = record.columns;
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
  await loadDependentRows(tx, resource, sorted, facts);
  if (resource === "project") await markListed(tx, observed, stored as Map<string, StoredProject>, source);
  if (resource === "project") {
    const equal = sorted.unchanged.filter(({ record }) => stored.get(record.id)?.hash === record.hash);
    for (const { record, askedAt } of [...sorted.added, ...equal])
      facts.sightings?.note({ ...record, askedAt }, source);
    for (const one of sorted.unchanged) {
      const known = stored.get(one.record.id) as StoredProject | undefined;
      const isForm =
        known &&
        known.hash !== one.record.hash &&
        source === "embedded" &&
        isOtherForm({ ...one, source }, known);
      if (isForm) facts.sightings?.noteForm({ ...one.record, askedAt: one.askedAt });
    }
    for (const { record, askedAt } of sorted.changed)
      facts.sightings?.note({ ...record, askedAt }, source, true);
  }
  await addLive(tx, resource, sorted.added.length + sorted.returned.length);

  return {
    counts: {
      inserted: sorted.added.length,
      updated: sorted.changed.length - equal,
      unchanged: sorted.unchanged.length + equal + observed.length - others.length,
      restored: sorted.returned.length,
    },
    moving,
    stale,
  };
}

/** Skips builds of which something newer is known: the later of two sightings wins, in any order of arrival. */
async function leaveOutStale(tx: TransactionSql, sorted: Sorted, runId: number) {
  const open = sorted.unchanged.filter(({ record: { columns } }) => isOpenState(columns.state));
  const stale = await findStale(tx, runId, [...sorted.changed, ...open].map(toShownState));
  const isFresh = ({ record }: ObservedRecord) => !stale.has(record.id);
  const late = sorted.changed.filter((one) => !isFresh(one));
  sorted.unchanged.push(...late);
  sorted.changed = sorted.changed.filter(isFresh);
  sorted.returned = sorted.returned.filter(isFresh);
  const known = [...sorted.changed, ...open.filter(isFresh)];
  return {
    moving: [...sorted.added.map(toFirstSighting), ...known.map(toBuildSighting)],
    stale: late.length,
  };
}

/** A build without a state is not open, because nothing shows that it will ever finish. */
function isOpenState(state: unknown): boolean {
  return state !== null && state !== "finished";
}

function toBuildSighting({ record, askedAt, observedAt, request }: ObservedRecord): BuildSighting {
  return { id: record.id, askedAt, observedAt, request };
}

function toFirstSighting(one: ObservedRecord): BuildSighting {
  const { state, date } = one.record.columns;
  return { ...toBuildSighting(one), added: { state: textOrNull(state), date: textOrNull(date) } };
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function toShownState(one: ObservedRecord): ShownState {
  return { ...toBuildSighting(one), state: one.record.columns.state };
}

/** The counts that loading these records would give. Writes nothing. */
export async function compareRecords(
  tx: TransactionSql,
  resource: Resource,
  records: readonly NormalizedRecord[],
  source: ProjectSource,
): Promise<LoadCounts> {
  const observed = records.map((record) => ({ record, askedAt: "", observedAt: "", request: null }));
  const stored = await findAnyStored(
    tx,
    resource,
    records.map(({ id }) => id),
  );
  const { added, changed, returned, unchanged } = sortRecords(observed, stored, source, () => true);
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
  observed: readonly ObservedRecord[],
  stored: ReadonlyMap<string, StoredRecord>,
  source: ProjectSource,
  isLater: (one: ObservedRecord, known: StoredRecord) => boolean,
): Sorted {
  const sorted: Sorted = { added: [], changed: [], returned: [], unchanged: [] };
  for (const one of observed) {
    const { record } = one;
    const known = stored.get(record.id);
    if (!known) {
      sorted.added.push(one);
      continue;
    }
    if (known.hash === record.hash || !isLater(one, known)) sorted.unchanged.push(one);
    else sorted.changed.push(one);
    // An embedded copy only proves that another record refers to the project, not that upstream has it.
    if (known.deleted && source !== "embedded") sorted.returned.push(one);
  }
  return sorted;
}

/** Sets the foreign keys whose records are here. The others stay null. */
function setKeys(row: TableRow, resource: Resource, record: NormalizedRecord, keys: KnownKeys): void {
  row.project_id = record.projectId;
  for (const key of URI_KEYS[resource]) row[key] = null;
  for (const { field, target } of record.references) row[`${field}_id`] = keys.resolve(target);
}

/**
 * Replaces rows whose hash differs, and returns their changes. `equal` is the number of rows without a
 * changed field: another version of the normalizer hashed them, or a list shows a record that was embedded
 * before. These rows keep their `changed_at`.
 */
async function replaceChanged(
  tx: TransactionSql,
  resource: Resource,
  changed: readonly ObservedRecord[],
  toRow: (one: ObservedRecord) => TableRow,
  facts: LoadFacts,
): Promise<{ changes: Change[]; equal: number }> {
  if (changed.length === 0) return { changes: [], equal: 0 };
  const rows = changed.map(toRow);
  const changes = await findChanges(tx, resource, changed, rows);
  const differing = new Set(changes.filter(hasFields).map(({ recordId }) => recordId));
  const differs = ({ id }: TableRow) => differing.has(String(id));
  const equal = rows.filter((row) => !differs(row));
  const kept = ["first_seen_at", "first_seen_run_id", "deleted_at"];
  await replaceRows(tx, RECORD_TABLES[resource], rows.filter(differs), kept);
  await replaceRows(tx, RECORD_TABLES[resource], equal, [...kept, "changed_at", "changed_run_id"]);
  const ids = changed.map(({ record }) => record.id);
  if (resource === "build") {
    await replaceRows(tx, BUILD_LOGS, changed.map(toLog), []);
    await takeBackLogs(
      tx,
      changed.filter(({ record }) => differing.has(record.id)),
      facts.method,
    );
  }
  if (resource === "project")
    await tx`delete from mirror.project_users where project_id = any (${ids}::text[])`;
  const unresolved = changed.flatMap(({ record }) => unresolvedRows(resource, record, facts.keys));
  await replaceUnresolved(tx, resource, ids, unresolved, facts.method);
  return { changes, equal: equal.length };
}

/** Stores the logs of changed builds again that were removed. That of a build that only its hash tells stays away. */
async function takeBackLogs(
  tx: TransactionSql,
  changed: readonly ObservedRecord[],
  method: WriteMethod,
): Promise<void> {
  const back = await tx<{ build_id: string }[]>`
    delete from mirror.archived_logs where build_id = any (${changed.map(({ record }) => record.id)}::text[])
    returning build_id`;
  const ids = new Set(back.map((row) => row.build_id));
  const logs = changed.filter(({ record }) => ids.has(record.id)).map(toLog);
  await addRows(tx, BUILD_LOGS, logs, method);
}

async function restoreReturned(
  tx: TransactionSql,
  resource: Resource,
  returned: readonly ObservedRecord[],
  runId: number,
): Promise<Change[]> {
  if (returned.length === 0) return [];
  const observed = returned.map(({ record, observedAt }) => ({ id: record.id, at: observedAt }));
  const { table } = RECORD_TABLES[resource];
  const record = recordsAs(resource, "record");
  await runStatement(
    tx,
    compose`
      update ${table} as ${record}
      set ${nameOf(record.deleted_at)} = null, ${nameOf(record.changed_at)} = returned.at,
        ${nameOf(record.changed_run_id)} = ${runId}
      from jsonb_to_recordset(${JSON.stringify(observed)}::text::jsonb) as returned (id text, at timestamptz)
      where ${record.id} = returned.id`,
  );
  return observed.map(({ id, at }) => ({ recordId: id, kind: "restored", observedAt: at }));
}

const toLog = ({ record }: ObservedRecord): TableRow => ({ build_id: record.id, ...record.logs });

/** Loads what belongs to the records: texts of builds, administrators of projects, unresolved references. */
async function loadDependentRows(tx: TransactionSql, resource: Resource, sorted: Sorted, facts: LoadFacts) {
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

/** Marks projects as listed when the list first shows them, also when they equal the embedded copy. */
async function markListed(
  tx: TransactionSql,
  observed: readonly ObservedRecord[],
  stored: ReadonlyMap<string, StoredProject>,
  source: ProjectSource,
): Promise<void> {
  if (source !== "list") return;
  const unlisted = observed.filter(({ record }) => stored.get(record.id)?.listed === false);
  const equal = observed.filter(({ record }) => {
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
