import { fieldOf, type Resource, targetOf } from "../../resources/resources.ts";
import { composed, nameOf, type TransactionSql } from "../../store/connection/sql.ts";
import type { ProjectSource } from "../../store/schema/records.ts";
import type { NormalizedRecord } from "../normalize/record.ts";
import { ignoredIn } from "../normalize/record-hash.ts";
import {
  findStored,
  findStoredUsers,
  keepUserOrder,
  type LoadCounts,
  type ObservedRecord,
  type SortedRecords,
  type StoredProject,
  type StoredRecord,
  type StoredUsers,
  sortRecords,
} from "./compare-records.ts";
import type { KnownKeys } from "./known-keys.ts";
import { addLive } from "./live-count.ts";
import type { ProjectSightings } from "./project-sightings.ts";
import { type Change, findChanges, hasFields, leaveOut, recordChanges } from "./record-changes.ts";
import { type BuildSighting, findStale, type TransitionFacts } from "./record-transitions.ts";
import {
  BUILD_LOGS,
  PROJECT_USERS,
  RECORD_TABLES,
  recordsAs,
  type TableRow,
  UNRESOLVED_REFERENCES,
  URI_KEYS,
} from "./tables.ts";
import { keepUnread } from "./unread-fields.ts";
import { addRows, replaceRows, type WriteMethod } from "./write-rows.ts";

export interface LoadFacts extends TransitionFacts {
  method: WriteMethod;
  /** Fields that are in no history. @default none */
  ignoredFields?: readonly string[] | null;
  keys: KnownKeys;
  /** Decides between copies of a project. @default the copy is later than the stored one */
  sightings?: ProjectSightings;
  /** True where the batch before this one stored the record as it is here. @default no record */
  isJustStored?: (resource: Resource, record: NormalizedRecord) => boolean;
}

export interface Loaded {
  counts: LoadCounts;
  /** Builds that are open or whose state may be new, for `recordTransitions`. */
  moving: BuildSighting[];
  /** Changed records that were skipped because something newer is known already. They count as unchanged. */
  stale: number;
}

export const nothingLoaded = (): Loaded => {
  return { counts: { inserted: 0, updated: 0, unchanged: 0, restored: 0 }, moving: [], stale: 0 };
};

/** Loads records of one resource within the caller's transaction. Each id must come once. */
export async function loadRecords(
  tx: TransactionSql,
  resource: Resource,
  observed: readonly ObservedRecord[],
  source: ProjectSource,
  facts: LoadFacts,
): Promise<Loaded> {
  if (observed.length === 0) return nothingLoaded();
  // `insert` is used after a failed load. Then what is known may be wrong, so every id is looked up.
  const isTrusting = facts.method === "copy";
  const others = observed.filter(({ record }) => !(isTrusting && facts.isJustStored?.(resource, record)));
  const ids = others.map(idOf).filter((id) => !(isTrusting && facts.keys.isNew(resource, id)));
  const stored = await findStored(tx, resource, ids);
  const isLater = (one: ObservedRecord, known: StoredRecord) =>
    resource !== "project" || (facts.sightings?.isLater(one, known as StoredProject, source) ?? true);
  const sorted = sortRecords(others, stored, source, isLater);
  const users = resource === "project" ? await findStoredUsers(tx, sorted.changed.map(idOf)) : new Map();
  if (resource === "project") sorted.changed = sorted.changed.map((one) => keepUserOrder(one, users));
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
      // The keys of records that are not here stay null.
      row.project_id = record.projectId;
      for (const key of URI_KEYS[resource]) row[key] = null;
      for (const { field, target } of record.references) row[`${field}_id`] = facts.keys.resolve(target);
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

  const { changes, equal } = await replaceChanged(tx, resource, sorted.changed, users, toRow, facts);
  changes.push(...(await restoreReturned(tx, resource, sorted.returned, facts.runId)));
  await recordChanges(tx, { resource, runId: facts.runId }, changes);
  for (const { record } of sorted.added) facts.keys.add(resource, record.id);
  await addRows(tx, RECORD_TABLES[resource], sorted.added.map(toRow), facts.method);
  await loadDependentRows(tx, resource, sorted, facts);
  if (resource === "project") {
    const projects = stored as Map<string, StoredProject>;
    await markListed(tx, observed, projects, source);
    facts.sightings?.noteLoaded(sorted, projects, source);
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
async function leaveOutStale(tx: TransactionSql, sorted: SortedRecords, runId: number) {
  // A build without a state is not open, because nothing shows that it will ever finish.
  const isOpen = ({ record: { columns } }: ObservedRecord) =>
    columns.state !== null && columns.state !== "finished";
  const open = sorted.unchanged.filter(isOpen);
  const stale = await findStale(tx, runId, [...sorted.changed, ...open].map(toSighting));
  const isFresh = ({ record }: ObservedRecord) => !stale.has(record.id);
  const late = sorted.changed.filter((one) => !isFresh(one));
  sorted.unchanged.push(...late);
  sorted.changed = sorted.changed.filter(isFresh);
  sorted.returned = sorted.returned.filter(isFresh);
  const known = [...sorted.changed, ...open.filter(isFresh)];
  const added = sorted.added.map((one) => ({ ...toSighting(one), isAdded: true }));
  return { moving: [...added, ...known.map(toSighting)], stale: late.length };
}

function toSighting({
  record: { id, columns },
  askedAt,
  observedAt,
  request,
}: ObservedRecord): BuildSighting {
  const { state = null, date = null } = columns;
  return { id, askedAt, observedAt, request, state, date };
}

/** Replaces rows whose hash differs. `equal` ones have no changed field, as a listed project that was embedded before. */
async function replaceChanged(
  tx: TransactionSql,
  resource: Resource,
  changed: readonly ObservedRecord[],
  users: StoredUsers,
  toRow: (one: ObservedRecord) => TableRow,
  facts: LoadFacts,
): Promise<{ changes: Change[]; equal: number }> {
  if (changed.length === 0) return { changes: [], equal: 0 };
  const rows = changed.map(toRow);
  await keepUnread(tx, resource, rows);
  const changes = await findChanges(tx, resource, changed, rows, users);
  for (const change of changes) leaveOut(change, ignoredIn(resource, facts.ignoredFields));
  const differing = new Set(changes.filter(hasFields).map(({ recordId }) => recordId));
  const differs = ({ id }: TableRow) => differing.has(String(id));
  const equal = rows.filter((row) => !differs(row));
  const kept = ["first_seen_at", "first_seen_run_id", "deleted_at"];
  await replaceRows(tx, RECORD_TABLES[resource], rows.filter(differs), kept);
  await replaceRows(tx, RECORD_TABLES[resource], equal, [...kept, "changed_at", "changed_run_id"]);
  const ids = changed.map(idOf);
  if (resource === "build") {
    await replaceRows(tx, BUILD_LOGS, changed.map(toLog), []);
    // Logs that were removed come back. The log of a build in which no field differs stays away.
    const back = await tx<{ build_id: string }[]>`
      delete from mirror.archived_logs where build_id = any (${[...differing]}::text[]) returning build_id`;
    const returned = new Set(back.map((row) => row.build_id));
    const logs = changed.filter(({ record }) => returned.has(record.id)).map(toLog);
    await addRows(tx, BUILD_LOGS, logs, facts.method);
  }
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
  const observed = returned.map(({ record, observedAt }) => ({ id: record.id, at: observedAt }));
  const { table } = RECORD_TABLES[resource];
  const record = recordsAs(resource, "record");
  await composed(tx)`
    update ${table} as ${record}
    set ${nameOf(record.deleted_at)} = null, ${nameOf(record.changed_at)} = returned.at,
      ${nameOf(record.changed_run_id)} = ${runId}
    from jsonb_to_recordset(${JSON.stringify(observed)}::text::jsonb) as returned (id text, at timestamptz)
    where ${record.id} = returned.id`;
  return observed.map(({ id, at }) => ({ recordId: id, kind: "restored", observedAt: at }));
}

const idOf = ({ record }: ObservedRecord): string => record.id;
const toLog = ({ record }: ObservedRecord): TableRow => ({ build_id: record.id, ...record.logs });

async function loadDependentRows(
  tx: TransactionSql,
  resource: Resource,
  sorted: SortedRecords,
  { keys, method }: LoadFacts,
) {
  if (resource === "build") await addRows(tx, BUILD_LOGS, sorted.added.map(toLog), method);
  if (resource === "project") {
    const users = [...sorted.added, ...sorted.changed].flatMap(({ record: { id, references } }) =>
      references.map(({ position, uri, target }) => {
        return { project_id: id, position, user_uri: uri, user_id: keys.resolve(target) };
      }),
    );
    await addRows(tx, PROJECT_USERS, users, method);
  }
  const unresolved = sorted.added.flatMap(({ record }) => unresolvedRows(resource, record, keys));
  await addRows(tx, UNRESOLVED_REFERENCES, unresolved, method);
}

/** Marks projects as listed when the list first shows them, also when they equal the embedded copy. */
async function markListed(
  tx: TransactionSql,
  observed: readonly ObservedRecord[],
  stored: ReadonlyMap<string, StoredProject>,
  source: ProjectSource,
): Promise<void> {
  if (source !== "list") return;
  const known = observed.flatMap(({ record: { id, hash } }) => {
    const project = stored.get(id);
    return project ? [{ ...project, isEqual: project.hash === hash && project.source !== "list" }] : [];
  });
  const marked = known.filter(({ listed, isEqual }) => isEqual || !listed).map(({ id }) => id);
  if (marked.length === 0) return;
  const equal = known.filter(({ isEqual }) => isEqual).map(({ id }) => id);
  await tx`
    update mirror.projects set listed = true, source = case when id = any (${equal}::text[]) then 'list' else source end
    where id = any (${marked}::text[])`;
}

function unresolvedRows(resource: Resource, record: NormalizedRecord, keys: KnownKeys): TableRow[] {
  const unresolved = record.references.filter(({ target }) => keys.resolve(target) === null);
  return unresolved.map(({ target, field, position, uri }) => {
    const expected = targetOf(fieldOf(resource, field));
    const fits = target.kind === "record" && target.resource === expected;
    return {
      resource,
      record_id: record.id,
      field,
      position,
      uri,
      status: fits ? "pending" : target.kind === "foreign" ? "foreign" : "malformed",
      checked_at: null,
      target_resource: fits ? target.resource : null,
      target_key: fits ? target.key : null,
    };
  });
}

/** A reference to a record that upstream does not have stays `gone`: a change of the referring record says nothing about it. */
async function replaceUnresolved(
  tx: TransactionSql,
  resource: Resource,
  ids: readonly string[],
  rows: readonly TableRow[],
  method: WriteMethod,
): Promise<void> {
  const removed = await tx<{ status: string; target: string; checkedAt: string | null }[]>`
    delete from mirror.unresolved_references
    where resource = ${resource} and record_id = any (${ids as string[]}::text[])
    returning status, concat(target_resource, '/', target_key) as target,
      to_char(checked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "checkedAt"`;
  const gone = new Map(
    removed.flatMap(({ status, target, checkedAt }) => (status === "gone" ? [[target, checkedAt]] : [])),
  );
  const kept = rows.map((row) => {
    const checkedAt = gone.get(`${row.target_resource}/${row.target_key}`);
    return checkedAt ? { ...row, status: "gone", checked_at: checkedAt } : row;
  });
  await addRows(tx, UNRESOLVED_REFERENCES, kept, method);
}
