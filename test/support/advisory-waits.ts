import type { Sql } from "../../src/store/connection/sql.ts";

/** How many sessions wait for an advisory lock of this database. Other tests wait for locks in databases of their own. */
export async function countAdvisoryWaits(sql: Sql): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    select count(*) as waiting from pg_locks join pg_database on pg_database.oid = database
    where locktype = 'advisory' and not granted and datname = current_database()`;
  return row?.waiting ?? 0;
}
