import { parseJson, toJson } from "../../resources/parse-json.ts";
import type { Resource } from "../../resources/resources.ts";
import { compose, piece, runStatement, statement, type TransactionSql } from "../../store/connection/sql.ts";
import type { Extra } from "../../store/schema/columns.ts";
import type { ObservedRecord, StoredUsers } from "./compare-records.ts";
import { silentFields } from "./silent-fields.ts";
import { RECORD_TABLES, type TableRow, URI_KEYS } from "./tables.ts";
import { mergedRows } from "./write-rows.ts";

const DIFFERING_FIELDS = piece("differing_fields", import.meta.url);
const LOG_CHANGES = statement<{ id: string; field: string; before: unknown; after: unknown }>(
  "log_changes",
  import.meta.url,
);
const STORE_CHANGES = statement("store_changes", import.meta.url);

/** Columns about our copy. A difference in them is not a change of the record. */
const NOT_UPSTREAM = [
  "first_seen_at",
  "first_seen_run_id",
  "changed_at",
  "changed_run_id",
  "deleted_at",
  "record_hash",
  "source",
  "listed",
];

export interface Change {
  recordId: string;
  kind: "updated" | "deleted" | "restored";
  observedAt: string;
  /** The fields that differ. Only an update has them. */
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
}

/**
 * The fields in which new rows differ from the stored ones, as Postgres prints them; empty for rows without a difference. `users`: the
 * administrators of projects as they are stored; `logs`: the texts of builds.
 */
export async function findChanges(
  tx: TransactionSql,
  resource: Resource,
  observed: readonly ObservedRecord[],
  rows: readonly TableRow[],
  { users, logs }: { users: StoredUsers; logs: readonly TableRow[] },
): Promise<Change[]> {
  type Fields = string | null;
  const differing = DIFFERING_FIELDS({
    merged: mergedRows(RECORD_TABLES[resource], rows),
    notUpstream: compose.param(NOT_UPSTREAM),
    uriKeys: compose.param(URI_KEYS[resource]),
  });
  const compared = await runStatement<{ id: string; before: Fields; after: Fields }>(tx, differing);
  const observedAt = new Map(observed.map((one) => [one.record.id, one.observedAt]));
  const changes = new Map<string, Change>();
  for (const { id, before, after } of compared) {
    const fields = { before: readFields(before), after: readFields(after) };
    changes.set(id, { recordId: id, kind: "updated", observedAt: observedAt.get(id) ?? "", ...fields });
  }
  if (resource === "build") await addLogChanges(tx, logs, changes);
  if (resource === "project") addUserChanges(observed, users, changes);
  return [...changes.values()];
}

/** Removes ignored fields from a change, by their columns or from `extra`. It may have no field then. */
export function leaveOut(change: Change, ignored: ReadonlySet<string>): void {
  const { before = {}, after = {} } = change;
  for (const field of ignored)
    for (const side of [before, after])
      for (const column of [field, `${field}_uri`, `${field}_id`]) delete side[column];
  if (ignored.size === 0 || !("extra" in after)) return;
  const withoutIgnored = (extra: unknown) => {
    const { values = {}, missing = [] } = (extra ?? {}) as Extra;
    const kept = Object.entries(values).filter(([field]) => !ignored.has(field));
    return toJson([kept, missing.filter((field) => !ignored.has(field))]);
  };
  if (withoutIgnored(before.extra) !== withoutIgnored(after.extra)) return;
  delete before.extra;
  delete after.extra;
}

/** As text, because the driver would change large numbers. */
const readFields = (json: string | null) =>
  parseJson(json ?? "{}", { isExact: true }) as Record<string, unknown>;

async function addLogChanges(
  tx: TransactionSql,
  logs: readonly TableRow[],
  changes: Map<string, Change>,
): Promise<void> {
  for (const { id, field, before, after } of await LOG_CHANGES(tx, { logs: JSON.stringify(logs) }))
    addField(changes.get(id), field, before, after);
}

function addUserChanges(
  observed: readonly ObservedRecord[],
  stored: StoredUsers,
  changes: Map<string, Change>,
): void {
  for (const { record } of observed) {
    if (silentFields("project", record).includes("users")) continue;
    const before = stored.get(record.id) ?? [];
    const after = record.references.filter(({ field }) => field === "users").map(({ uri }) => uri);
    const isSame = JSON.stringify(before) === JSON.stringify(after);
    if (!isSame) addField(changes.get(record.id), "users", before, after);
  }
}

/** Adds a field that the row of the record does not hold, or that changes with it. */
export function addField(change: Change | undefined, field: string, before: unknown, after: unknown): void {
  if (!change) return;
  change.before = { ...change.before, [field]: before };
  change.after = { ...change.after, [field]: after };
}

export function hasFields({ after }: Change): boolean {
  return Object.keys(after ?? {}).length > 0;
}

/** Stores changes. An update without a changed field is left out. */
export async function recordChanges(
  tx: TransactionSql,
  facts: { resource: Resource; runId: number },
  changes: Iterable<Change>,
): Promise<void> {
  const rows = [...changes].filter((change) => change.kind !== "updated" || hasFields(change));
  if (rows.length === 0) return;
  await STORE_CHANGES(tx, { resource: facts.resource, runId: facts.runId, changes: toJson(rows) });
}
