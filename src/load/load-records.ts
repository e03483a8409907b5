import type { TransactionSql } from "../db/connect.ts";
import type { ProjectSource } from "../db/schema/projects.ts";
import type { NormalizedRecord } from "../normalize/normalized.ts";
import type { Resource } from "../wire/resources.ts";
import type { KnownKeys } from "./known-keys.ts";
import { type Change, findChanges, recordChanges } from "./record-changes.ts";
import { recordTransitions, type TransitionFacts } from "./record-transitions.ts";
import { replaceUnresolved, unresolvedRows } from "./references.ts";
import { findStored, findStoredProjects, type StoredProject, type StoredRecord } from "./stored-records.ts";
import { BUILD_LOGS, PROJECT_USERS, RECORD_TABLES, type Row } from "./tables.ts";
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
  transitions: number;
}

interface Sorted {
  added: NormalizedRecord[];
  changed: NormalizedRecord[];
  /** Deleted here, yet upstream shows them again. */
  returned: StoredRecord[];
  unchanged: number;
}

/**
 * Brings records of one resource into their tables, within the caller's transaction: new ones are added, changed ones replaced with their
 * change recorded, equal ones not touched at all. Each id must come once.
 */
export async function loadRecords(
  tx: TransactionSql,
  resource: Resource,
  records: readonly NormalizedRecord[],
  source: ProjectSource,
  facts: LoadFacts,
): Promise<LoadCounts> {
  if (records.length === 0) return { inserted: 0, updated: 0, unchanged: 0, restored: 0, transitions: 0 };
  const ids = records.map(({ id }) => id);
  const stored =
    resource === "project" ? await findStoredProjects(tx, ids) : await findStored(tx, resource, ids);
  const sorted = sortRecords(records, stored, source);

  const toRow = (record: NormalizedRecord): Row => ({
    id: record.id,
    ...record.columns,
    ...keyColumns(resource, record, facts.keys),
    ...(resource === "project" && {
      source,
      listed: source === "list" || (stored.get(record.id) as StoredProject | undefined)?.listed === true,
    }),
    extra: record.extra,
    first_seen_at: stored.get(record.id)?.firstSeenAt ?? facts.observedAt,
    changed_at: facts.observedAt,
    deleted_at: null,
    record_hash: record.hash,
  });

  const changes = await replaceChanged(tx, resource, sorted.changed, toRow, facts);
  await restoreReturned(tx, resource, sorted, changes, facts);
  await recordChanges(tx, { resource, runId: facts.runId, observedAt: facts.observedAt }, changes);
  await addRows(tx, RECORD_TABLES[resource], sorted.added.map(toRow), facts.method);
  for (const { id } of sorted.added) facts.keys.add(resource, id);
  await loadSatellites(tx, resource, sorted, facts);
  if (resource === "project") await markListed(tx, records, stored as Map<string, StoredProject>, source);

  const transitions =
    resource === "build"
      ? await recordTransitions(
          tx,
          facts,
          [...sorted.added, ...sorted.changed].map(({ id }) => id),
        )
      : 0;
  return {
    inserted: sorted.added.length,
    updated: sorted.changed.length,
    unchanged: sorted.unchanged,
    restored: sorted.returned.length,
    transitions,
  };
}

/** What loading these records would count, without writing anything. */
export async function compareRecords(
  tx: TransactionSql,
  resource: Resource,
  records: readonly NormalizedRecord[],
  source: ProjectSource,
): Promise<Omit<LoadCounts, "transitions">> {
  const ids = records.map(({ id }) => id);
  const stored =
    resource === "project" ? await findStoredProjects(tx, ids) : await findStored(tx, resource, ids);
  const { added, changed, returned, unchanged } = sortRecords(records, stored, source);
  return { inserted: added.length, updated: changed.length, unchanged, restored: returned.length };
}

function sortRecords(
  records: readonly NormalizedRecord[],
  stored: ReadonlyMap<string, StoredRecord>,
  source: ProjectSource,
): Sorted {
  const sorted: Sorted = { added: [], changed: [], returned: [], unchanged: 0 };
  for (const record of records) {
    const known = stored.get(record.id);
    if (!known) {
      sorted.added.push(record);
      continue;
    }
    if (known.hash === record.hash || !isNewer(record, known, source)) sorted.unchanged += 1;
    else sorted.changed.push(record);
    // An embedded copy proves that somebody still points to the project, not that upstream still has it.
    if (known.deleted && source !== "embedded") sorted.returned.push(known);
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

function keyColumns(resource: Resource, record: NormalizedRecord, keys: KnownKeys): Row {
  if (resource === "user" || resource === "project") return {};
  const key = (field: string) => {
    const reference = record.references.find((one) => one.field === field);
    return reference ? keys.resolve(reference.target) : null;
  };
  if (resource === "build") return { project_id: key("project"), version_id: key("version") };
  return { project_id: record.projectId ?? key("project") };
}

async function replaceChanged(
  tx: TransactionSql,
  resource: Resource,
  changed: readonly NormalizedRecord[],
  toRow: (record: NormalizedRecord) => Row,
  facts: LoadFacts,
): Promise<Change[]> {
  if (changed.length === 0) return [];
  const pairs = changed.map((record) => ({ record, row: toRow(record) }));
  const changes = await findChanges(tx, resource, pairs);
  const table = RECORD_TABLES[resource];
  await replaceRows(
    tx,
    table,
    pairs.map(({ row }) => row),
    ["first_seen_at", "deleted_at"],
  );
  if (resource === "build") {
    const logs = changed.map((record) => ({ build_id: record.id, ...record.logs }));
    await replaceRows(tx, BUILD_LOGS, logs, []);
  }
  if (resource === "project") {
    await tx`delete from mirror.project_users where project_id = any (${changed.map(({ id }) => id)}::text[])`;
  }
  const ids = changed.map(({ id }) => id);
  const unresolved = changed.flatMap((record) => unresolvedRows(resource, record, facts.keys));
  await replaceUnresolved(tx, resource, ids, unresolved, facts.method);
  return [...changes.values()];
}

async function restoreReturned(
  tx: TransactionSql,
  resource: Resource,
  sorted: Sorted,
  changes: Change[],
  facts: LoadFacts,
): Promise<void> {
  if (sorted.returned.length === 0) return;
  const ids = sorted.returned.map(({ id }) => id);
  await tx.unsafe(
    `update ${RECORD_TABLES[resource].name} set deleted_at = null, changed_at = $2 where id = any ($1::text[])`,
    [ids, facts.observedAt],
  );
  for (const id of ids) changes.push({ recordId: id, kind: "restored", before: null, after: null });
}

/** What hangs on the records of a resource: a build's texts, a project's administrators, and references to what is not here. */
async function loadSatellites(
  tx: TransactionSql,
  resource: Resource,
  sorted: Sorted,
  facts: LoadFacts,
): Promise<void> {
  if (resource === "build") {
    const logs = sorted.added.map((record) => ({ build_id: record.id, ...record.logs }));
    await addRows(tx, BUILD_LOGS, logs, facts.method);
  }
  if (resource === "project") {
    const users = [...sorted.added, ...sorted.changed].flatMap((record) =>
      record.references.map(({ position, uri, target }) => ({
        project_id: record.id,
        position,
        user_uri: uri,
        user_id: facts.keys.resolve(target),
      })),
    );
    await addRows(tx, PROJECT_USERS, users, facts.method);
  }
  const unresolved = sorted.added.flatMap((record) => unresolvedRows(resource, record, facts.keys));
  await replaceUnresolved(tx, resource, [], unresolved, facts.method);
}

/** A project that the list shows, equal to the copy that came embedded, is from then on a listed one. */
async function markListed(
  tx: TransactionSql,
  records: readonly NormalizedRecord[],
  stored: ReadonlyMap<string, StoredProject>,
  source: ProjectSource,
): Promise<void> {
  if (source !== "list") return;
  const ids = records.map(({ id }) => id).filter((id) => stored.get(id)?.listed === false);
  if (ids.length > 0) await tx`update mirror.projects set listed = true where id = any (${ids}::text[])`;
  const equal = records
    .filter(({ id, hash }) => stored.get(id)?.hash === hash && stored.get(id)?.source !== "list")
    .map(({ id }) => id);
  if (equal.length > 0)
    await tx`update mirror.projects set source = 'list' where id = any (${equal}::text[])`;
}
