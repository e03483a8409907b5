import type { Sql } from "../db/connect.ts";
import { RECORD_TABLES } from "../load/tables.ts";
import type { Resource } from "../wire/resources.ts";

/**
 * Whether all these records were here before a moment. A walk from the head of a list ends where it joins what is known; what an earlier
 * one stored before it broke off is known too, but below it may lie records that nobody has read.
 */
export async function areOlderThan(
  sql: Sql,
  resource: Resource,
  ids: readonly string[],
  moment: string,
): Promise<boolean> {
  const [row] = await sql.unsafe<{ older: number }[]>(
    `select count(*) as older from ${RECORD_TABLES[resource].name}
     where id = any ($1::text[]) and first_seen_at < $2::timestamptz`,
    [ids as string[], moment],
  );
  return row?.older === new Set(ids).size;
}
