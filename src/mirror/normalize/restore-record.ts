import type { Resource } from "../../resources/resources.ts";
import type { Extra } from "../../store/schema/columns.ts";
import { PLANS } from "./record-plan.ts";

/** One record as the tables hold it: the inverse of a `NormalizedRecord`. */
export interface RestorableRecord {
  id: string;
  extra: Extra | null;
  /** Column values by name, with dates as `LocalTime.text`. For a build, those of its logs too. */
  columns: Readonly<Record<string, unknown>>;
  /** The URIs of a project's administrators, in their order. */
  users?: readonly string[];
  /** The embedded project of a version or a file in its wire form. Null when there is none. */
  project?: Readonly<Record<string, unknown>> | null;
}

/**
 * The record as it was sent, from its columns, its `extra` and the rows that belong to it. Documented fields
 * come first, in the documented order. Only U+0000 and lone surrogates differ from what was sent.
 */
export function restoreRecord(
  resource: Resource,
  { id, extra, columns, users = [], project = null }: RestorableRecord,
): Record<string, unknown> {
  const { values = {}, missing = [] } = extra ?? {};
  const record: Record<string, unknown> = {};
  // Not by assignment: a field may be called __proto__.
  const put = (field: string, value: unknown) =>
    Object.defineProperty(record, field, { value, enumerable: true, configurable: true, writable: true });

  record.id = id;
  for (const { name, kind, column } of PLANS[resource].fields) {
    if (missing.length > 0 && missing.includes(name)) continue;
    if (column !== null) record[name] = columns[column] ?? null;
    else record[name] = kind === "uris" ? users : project;
  }
  for (const field of Object.keys(values)) put(field, values[field]);
  return record;
}
