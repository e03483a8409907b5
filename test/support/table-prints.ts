import { readDefinitions } from "../../src/report/definitions.ts";
import { mirrorTables, quoteName, quoteTable } from "../../src/store/backup/mirror-tables.ts";
import type { Sql } from "../../src/store/connection/sql.ts";

export interface TablePrint {
  rows: number;
  /** Of all rows, in whatever order. */
  print: string;
}

/** What tells the rows of each table from others. */
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
