import { RESOURCES, type Resource } from "../../src/resources/resources.ts";
import { readRecords } from "../../src/serve/catalog/mirror-catalog.ts";
import type { Sql } from "../../src/store/connection/sql.ts";

const TABLES = [
  ...RESOURCES.map((resource) => `${resource}s`),
  ...["project_users", "build_logs", "build_transitions", "changes", "unresolved_references"],
];

/** Every row of the mirror with its physical place, which a write would move even where it changes nothing. */
export async function fingerprint(sql: Sql): Promise<Record<string, string[]>> {
  const prints: Record<string, string[]> = {};
  for (const table of TABLES) {
    const rows = await sql.unsafe<{ print: string }[]>(
      `select ctid::text || md5(row::text) as print from mirror.${table} as row order by ctid`,
    );
    prints[table] = rows.map(({ print }) => print);
  }
  return prints;
}

/** The stored records of a resource in their wire form, by id; all, unless `ids` names some. */
export async function restoreStored(
  sql: Sql,
  resource: Resource,
  ids: readonly string[] | null = null,
): Promise<Map<string, Record<string, unknown>>> {
  const stored =
    ids ?? (await sql<{ id: string }[]>`select id from mirror.${sql(`${resource}s`)}`).map(({ id }) => id);
  const records = new Map<string, Record<string, unknown>>();
  for (let start = 0; start < stored.length; start += 5000) {
    const part = stored.slice(start, start + 5000);
    for (const record of await readRecords(sql, resource, part)) records.set(String(record.id), record);
  }
  return records;
}
