import { readDefinitions } from "../../src/report/definitions.ts";
import { RESOURCES, type Resource } from "../../src/resources/resources.ts";
import { readRecords } from "../../src/serve/catalog/mirror-catalog.ts";
import { mirrorTables, quoteName, quoteTable } from "../../src/store/backup/mirror-tables.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { withTestSql } from "./database.ts";

const TABLES = [
  ...RESOURCES.map((resource) => `${resource}s`),
  ...["project_users", "build_logs", "build_transitions", "unresolved_references"],
];
/** What says when and by whom a row was written, and so differs between two mirrors of the same records. */
const CIRCUMSTANCES = [
  ...["first_seen_at", "changed_at", "deleted_at", "not_after", "not_before", "asked_at", "checked_at"],
  ...["first_seen_run_id", "changed_run_id", "run_id", "previous_run_id"],
  ...["request", "previous_request", "source"],
];

/** Every row of the mirror as texts in a fixed order, without what only tells of the runs that wrote it. */
export function mirrorRows(databaseUrl: string): Promise<Record<string, string[]>> {
  return withTestSql(databaseUrl, async (sql) => {
    const rows: Record<string, string[]> = {};
    for (const table of TABLES) {
      const found = await sql<{ row: string }[]>`
        select (to_jsonb(t) - ${CIRCUMSTANCES}::text[] || jsonb_build_object('deleted', to_jsonb(t) -> 'deleted_at' <> 'null'))::text as row
        from ${sql(`mirror.${table}`)} t`;
      rows[table] = found.map(({ row }) => row).sort();
    }
    return rows;
  });
}

/** Every recorded change as a text in a fixed order, without when and by which run it was seen: a change written twice is there twice. */
export function changeRows(databaseUrl: string): Promise<string[]> {
  return withTestSql(databaseUrl, async (sql) => {
    const found = await sql<{ row: string }[]>`
      select (to_jsonb(change) - ${["id", "run_id", "observed_at"]}::text[])::text as row from mirror.changes as change`;
    return found.map(({ row }) => row).sort();
  });
}

/** Every row of the mirror with its physical place, which a write would move even where it changes nothing. */
export async function fingerprint(sql: Sql): Promise<Record<string, string[]>> {
  const prints: Record<string, string[]> = {};
  for (const table of [...TABLES, "changes"]) {
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

type TablePrint = { rows: number; print: string };

/** What tells the rows of each table from others, in whatever order they are. */
export async function fingerprintTables(sql: Sql): Promise<Record<string, TablePrint>> {
  const prints: Record<string, TablePrint> = {};
  for (const { name, columns } of mirrorTables(readDefinitions().tables)) {
    const [print] = await sql.unsafe<TablePrint[]>(
      `select count(*)::int as rows, md5(coalesce(string_agg(print, '' order by print), '')) as print
       from (select md5(row(${columns.map(quoteName).join(", ")})::text) as print from ${quoteTable(name)}) as row`,
    );
    if (print !== undefined) prints[name] = print;
  }
  return prints;
}

/** The name of each list as rows, for a statement. */
export const EACH_LIST = `unnest(array[${RESOURCES.map((resource) => `'${resource}'`).join()}])`;

/** Lets the mirror be of any service again: on loopback the same service comes back on another port. */
export async function forgetService(sql: Sql): Promise<void> {
  await sql`delete from sync.service`;
}
