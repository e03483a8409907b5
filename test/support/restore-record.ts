import type { NormalizedRecord } from "../../src/normalize/normalized.ts";
import { RESOURCE_FIELDS, type Resource } from "../../src/wire/resources.ts";

/**
 * The inverse of normalizing: the record as it was sent, from its columns, its `extra` and what hangs on it. `findProject` gives the
 * embedded project by its id. Fields stand in the documented order; those that had none of their own come last.
 */
export function restoreRecord(
  resource: Resource,
  row: NormalizedRecord,
  findProject: (id: string) => Record<string, unknown> | null,
): Record<string, unknown> {
  const { values = {}, missing = [] } = row.extra ?? {};
  const record: Record<string, unknown> = {};
  // Not by assignment: a field may be called __proto__.
  const put = (field: string, value: unknown) =>
    Object.defineProperty(record, field, { value, enumerable: true, configurable: true, writable: true });

  put("id", row.id);
  for (const [field, kind] of Object.entries(RESOURCE_FIELDS[resource])) {
    if (missing.includes(field)) continue;
    if (kind === "uris") put(field, listUris(row, field));
    else if (kind === "embedded") put(field, row.projectId === null ? null : findProject(row.projectId));
    else {
      const column = kind === "uri" ? `${field}_uri` : field;
      const columns = row.logs !== null && Object.hasOwn(row.logs, column) ? row.logs : row.columns;
      put(field, columns[column] ?? null);
    }
  }
  for (const field of Object.keys(values)) put(field, values[field]);
  return record;
}

function listUris(row: NormalizedRecord, field: string): string[] {
  const references = row.references.filter((reference) => reference.field === field);
  return references.sort((one, other) => one.position - other.position).map(({ uri }) => uri);
}
