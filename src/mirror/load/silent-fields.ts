/**
 * The fields of which a reply says nothing: it lacks them, or their values cannot be read. A list may leave out what details have, and
 * the other way round. So such a field keeps what was read before: its column, its references, and its place in the history. A null is a value
 * and says that there is none.
 *
 * A row without a key stands for this down to the SQL: `replaceRows` and `findChanges` leave a column without a value as it is stored.
 */
import { parseJson } from "../../resources/parse-json.ts";
import type { Resource } from "../../resources/resources.ts";
import { compose, composed, type TransactionSql } from "../../store/connection/sql.ts";
import type { Extra } from "../../store/schema/columns.ts";
import type { ProjectSource } from "../../store/schema/records.ts";
import type { NormalizedRecord } from "../normalize/record.ts";
import { PLANS, type PlannedField } from "../normalize/record-plan.ts";
import { RECORD_TABLES, type TableRow } from "./tables.ts";

type SentRecord = Pick<NormalizedRecord, "columns" | "extra" | "references">;

/** True where the record lacks the field, or has a value of it that could not be read. */
export function isSilent(
  record: SentRecord,
  { name, column }: Pick<PlannedField, "name" | "column">,
): boolean {
  const { extra, columns, references } = record;
  if (extra === null) return false;
  if (extra.missing?.includes(name)) return true;
  const isRead = column === null ? references.some(({ field }) => field === name) : columns[column] != null;
  return !isRead && isUnread(extra, name) && extra.values?.[name] !== null;
}

/** True where `extra` has the field as it was sent. */
export const isUnread = (extra: Extra | null, field: string) =>
  extra?.values !== undefined && Object.hasOwn(extra.values, field);

/** The names of the silent fields of a record. Most have none. */
export function silentFields(resource: Resource, record: SentRecord): string[] {
  if (record.extra === null) return [];
  return PLANS[resource].fields.filter((field) => isSilent(record, field)).map(({ name }) => name);
}

/** Takes the columns of silent fields out of the row that stands for the record. */
export function leaveOutSilent(resource: Resource, record: SentRecord, row: TableRow): TableRow {
  const silent = silentFields(resource, record);
  for (const { name, column } of PLANS[resource].fields) {
    if (!silent.includes(name)) continue;
    if (column !== null) delete row[column];
    // The key of a reference.
    delete row[`${name}_id`];
  }
  return row;
}

/** Gives each row, which replaces a stored one, what the stored `extra` has of the fields that its record lacks. */
export async function mergeExtras(
  tx: TransactionSql,
  resource: Resource,
  rows: readonly TableRow[],
  source: ProjectSource,
): Promise<void> {
  const { table } = RECORD_TABLES[resource];
  // As text, because the driver would change large numbers.
  const stored = await composed(tx)<{ id: string; extra: string }>`
    select ${table.id}, ${table.extra}::text from ${table}
    where ${table.id} = any (${compose.param(rows.map(({ id }) => id))}::text[]) and ${table.extra} is not null`;
  const extras = new Map(stored.map(({ id, extra }) => [id, parseJson(extra, { isExact: true }) as Extra]));
  for (const row of rows) {
    const known = extras.get(String(row.id)) ?? {};
    row.extra = mergeExtra(resource, known, (row.extra as Extra | null) ?? {}, source);
  }
}

/** The `extra` of a record that was not here: notes what a detail alone has shown so far. */
export function extraOfNew(resource: Resource, extra: Extra | null, source: ProjectSource): Extra | null {
  const details = source === "detail" ? ownFields(resource, extra?.values) : [];
  return details.length > 0 ? { ...extra, details } : extra;
}

/** The names of the fields without documentation. */
const ownFields = (resource: Resource, values: Extra["values"] = {}) =>
  Object.keys(values).filter((field) => !PLANS[resource].isDocumented.has(field));

function mergeExtra(
  resource: Resource,
  stored: Extra,
  { values, missing = [] }: Extra,
  source: ProjectSource,
): Extra | null {
  const known = stored.values ?? {};
  const shown = ownFields(resource, values);
  const earlier = stored.details ?? [];
  const details =
    source === "detail"
      ? [...earlier, ...shown.filter((field) => !earlier.includes(field) && !Object.hasOwn(known, field))]
      : earlier.filter((field) => !shown.includes(field));
  // A list without a field that it had itself, and that nobody has documented, shows that the service has given it up.
  const stays = (field: string) =>
    PLANS[resource].isDocumented.has(field)
      ? missing.includes(field)
      : source !== "list" || details.includes(field);
  const kept = Object.entries(known).filter(([field]) => stays(field));
  // Without a prototype, so that no field is special.
  const all = Object.create(null) as Record<string, unknown>;
  for (const [field, value] of [...kept, ...Object.entries(values ?? {})]) all[field] = value;
  const never = missing.filter((field) => stored.missing?.includes(field));
  const hasValues = Object.keys(all).length > 0;
  if (!hasValues && never.length === 0) return null;
  return {
    ...(hasValues && { values: all }),
    ...(never.length > 0 && { missing: never }),
    ...(details.length > 0 && { details }),
  };
}
