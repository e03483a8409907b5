import { fieldOf, type Resource, targetOf } from "../../resources/resources.ts";
import { statement, type TransactionSql } from "../../store/connection/sql.ts";
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
  type StoredBuild,
  type StoredProject,
  type StoredRecord,
  type StoredUsers,
  sortRecords,
} from "./compare-records.ts";
import { hasText, keepEmptied, toLog } from "./emptied-texts.ts";
import type { KnownKeys } from "./known-keys.ts";
import { addLive } from "./live-count.ts";
import { endLives } from "./lives.ts";
import type { ProjectSightings } from "./project-sightings.ts";
import { addField, type Change, findChanges, hasFields, leaveOut, recordChanges } from "./record-changes.ts";
import type { BuildSighting } from "./record-transitions.ts";
import { extraOfNew, leaveOutSilent, mergeExtras, silentFields } from "./silent-fields.ts";
import { type BuildFacts, sortBuilds } from "./sort-builds.ts";
import {
  BUILD_LOGS,
  PROJECT_USERS,
  RECORD_TABLES,
  recordStatement,
  type TableRow,
  UNRESOLVED_REFERENCES,
  URI_KEYS,
} from "./tables.ts";
import { addRows, replaceRows, type WriteMethod } from "./write-rows.ts";

const RESTORE_RETURNED = recordStatement("restore_returned", import.meta.url);
const REMOVE_UNRESOLVED = statement<{ status: string; target: string; checkedAt: string | null }>(
  "remove_unresolved",
  import.meta.url,
);

export interface LoadFacts extends BuildFacts {
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
  /** Builds with a text that became empty. */
  emptied: number;
}

export const nothingLoaded = (): Loaded => {
  return { counts: { inserted: 0, updated: 0, unchanged: 0, restored: 0 }, moving: [], stale: 0, emptied: 0 };
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
  const { moving, stale, reborn } =
    resource === "build"
      ? await sortBuilds(tx, sorted, stored as ReadonlyMap<string, StoredBuild>, facts)
      : { moving: [], stale: 0, reborn: new Set<string>() };

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
    row.extra = known && !reborn.has(record.id) ? record.extra : extraOfNew(resource, record.extra, source);
    if (resource === "build")
      row.life = ((known as StoredBuild | undefined)?.life ?? 1) + (reborn.has(record.id) ? 1 : 0);
    row.first_seen_at = reborn.has(record.id) ? observedAt : (known?.firstSeenAt ?? observedAt);
    row.changed_at = observedAt;
    row.first_seen_run_id = facts.runId;
    row.changed_run_id = facts.runId;
    row.deleted_at = null;
    row.record_hash = record.hash;
    return row;
  };

  const { changes, equal, emptied } = await replaceChanged(
    tx,
    resource,
    { ...sorted, users, reborn, stored },
    toRow,
    { ...facts, source },
  );
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
    emptied,
  };
}

interface Replaced extends Pick<SortedRecords, "changed"> {
  users: StoredUsers;
  stored: ReadonlyMap<string, StoredRecord>;
  reborn: ReadonlySet<string>;
}

/** Replaces rows whose hash differs. `equal` ones have no changed field, as a listed project that was embedded before. */
async function replaceChanged(
  tx: TransactionSql,
  resource: Resource,
  { changed, users, stored, reborn }: Replaced,
  toRow: (one: ObservedRecord) => TableRow,
  facts: LoadFacts & { source: ProjectSource },
): Promise<{ changes: Change[]; equal: number; emptied: number }> {
  if (changed.length === 0) return { changes: [], equal: 0, emptied: 0 };
  const isReborn = (id: unknown) => reborn.has(String(id));
  // A field of which nothing is said does not keep the value that another build had, nor does an empty text.
  const rows = changed.map((one) =>
    isReborn(one.record.id) ? toRow(one) : leaveOutSilent(resource, one.record, toRow(one)),
  );
  const records = changed.map(({ record }) => record);
  const logs =
    resource === "build"
      ? records.map((record) =>
          isReborn(record.id) ? { build_id: record.id, ...record.logs } : toLog(record),
        )
      : [];
  const staying = rows.filter(({ id }) => !isReborn(id));
  await mergeExtras(tx, resource, staying, facts.source);
  const emptied = await keepEmptied(
    tx,
    records.filter(({ id }) => !isReborn(id)),
    staying,
    logs.filter((log) => !isReborn(log.build_id)),
  );
  const changes = await findChanges(tx, resource, changed, rows, { users, logs });
  for (const change of changes) {
    const { recordId, observedAt } = change;
    // Looking back finds the build before only from its own first sight on.
    if (reborn.has(recordId))
      addField(change, "first_seen_at", stored.get(recordId)?.firstSeenAt, observedAt);
    leaveOut(change, ignoredIn(resource, facts.ignoredFields));
  }
  const differing = new Set(changes.filter(hasFields).map(({ recordId }) => recordId));
  const differs = ({ id }: TableRow) => differing.has(String(id));
  const equal = rows.filter((row) => !differs(row));
  if (resource === "build") await keepVersions(tx, staying);
  const kept = ["first_seen_at", "first_seen_run_id", "deleted_at"];
  const specs = RECORD_TABLES[resource];
  await endLives(tx, [...reborn]);
  await replaceRows(
    tx,
    specs,
    rows.filter(({ id }) => isReborn(id)),
    ["deleted_at"],
  );
  await replaceRows(tx, specs, staying.filter(differs), kept);
  await replaceRows(tx, specs, equal, [...kept, "changed_at", "changed_run_id"]);
  if (resource === "build") {
    await replaceRows(tx, BUILD_LOGS, logs, []);
    // Logs that were removed come back, where all of their texts did. An empty one, or that of a build in which no field differs, stays away.
    const whole = logs.filter(
      (log) => hasText(log) && BUILD_LOGS.columns.every(({ name }) => Object.hasOwn(log, name)),
    );
    const mayReturn = whole.map((log) => String(log.build_id)).filter((id) => differing.has(id));
    const back = await tx<{ build_id: string }[]>`
      delete from mirror.archived_logs where build_id = any (${mayReturn}::text[]) returning build_id`;
    const returned = new Set(back.map((row) => row.build_id));
    await addRows(
      tx,
      BUILD_LOGS,
      logs.filter((log) => returned.has(String(log.build_id))),
      facts.method,
    );
  }
  const silent = changed.map(({ record }) => ({ id: record.id, fields: silentFields(resource, record) }));
  if (resource === "project") {
    const ids = silent.filter(({ fields }) => !fields.includes("users")).map(({ id }) => id);
    await tx`delete from mirror.project_users where project_id = any (${ids}::text[])`;
  }
  const unresolved = changed.flatMap(({ record }) => unresolvedRows(resource, record, facts.keys));
  await replaceUnresolved(tx, resource, silent, unresolved, facts.method);
  return { changes, equal: equal.length, emptied };
}

/** The service names no version any more for the builds of one that was deleted. */
async function keepVersions(tx: TransactionSql, rows: readonly TableRow[]): Promise<void> {
  const unnamed = rows.filter(({ version_uri }) => !version_uri).map(({ id }) => String(id));
  if (unnamed.length === 0) return;
  await tx`
    insert into mirror.kept_versions (build_id, version_id)
    select id, version_id from mirror.builds where id = any (${unnamed}::text[]) and version_id is not null
    on conflict (build_id) do update set version_id = excluded.version_id`;
}

async function restoreReturned(
  tx: TransactionSql,
  resource: Resource,
  returned: readonly ObservedRecord[],
  runId: number,
): Promise<Change[]> {
  if (returned.length === 0) return [];
  const observed = returned.map(({ record, observedAt }) => ({ id: record.id, at: observedAt }));
  await RESTORE_RETURNED(tx, resource, { runId, observed: JSON.stringify(observed) });
  return observed.map(({ id, at }) => ({ recordId: id, kind: "restored", observedAt: at }));
}

const idOf = ({ record }: ObservedRecord): string => record.id;

async function loadDependentRows(
  tx: TransactionSql,
  resource: Resource,
  sorted: SortedRecords,
  { keys, method }: LoadFacts,
) {
  if (resource === "build")
    await addRows(
      tx,
      BUILD_LOGS,
      sorted.added.map(({ record }) => toLog(record)),
      method,
    );
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

/**
 * A reference to a record that upstream does not have stays `gone`: a change of the referring record says nothing about it.
 * `records`: those that changed, each with the fields of which it says nothing.
 */
async function replaceUnresolved(
  tx: TransactionSql,
  resource: Resource,
  records: readonly { id: string; fields: readonly string[] }[],
  rows: readonly TableRow[],
  method: WriteMethod,
): Promise<void> {
  const removed = await REMOVE_UNRESOLVED(tx, { records: JSON.stringify(records), resource });
  const gone = new Map(
    removed.flatMap(({ status, target, checkedAt }) => (status === "gone" ? [[target, checkedAt]] : [])),
  );
  const kept = rows.map((row) => {
    const checkedAt = gone.get(`${row.target_resource}/${row.target_key}`);
    return checkedAt ? { ...row, status: "gone", checked_at: checkedAt } : row;
  });
  await addRows(tx, UNRESOLVED_REFERENCES, kept, method);
}
