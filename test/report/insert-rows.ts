import type { Sql } from "../../src/db/connect.ts";

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
