import type { Sql } from "../../src/store/connection/sql.ts";

export type InsertedRow = Readonly<Record<string, string | number | boolean | null>>;

/** Inserts rows in one statement; columns that the first row has not get their defaults. */
export async function insertRows(sql: Sql, table: string, rows: readonly InsertedRow[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  if (columns.length === 0) return;
  const list = columns.map((column) => `"${column}"`).join(", ");
  await sql.unsafe(
    `insert into ${table} (${list}) select ${list} from jsonb_populate_recordset(null::${table}, $1::text::jsonb)`,
    [JSON.stringify(rows)],
  );
}

export async function insertTables(
  sql: Sql,
  tables: Readonly<Record<string, readonly InsertedRow[]>>,
): Promise<void> {
  for (const [table, rows] of Object.entries(tables)) await insertRows(sql, table, rows);
}

export async function insertOneVersion(sql: Sql): Promise<void> {
  await sql`
    insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
    values ('1', 'pip', 'Pip', 'list', true, '2024-01-01', '2024-01-01', '\\x00')`;
  await sql`
    insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
    values ('11', 'latest', '1', '2024-01-01', '2024-01-01', '\\x00')`;
}
