import type { Sql } from "../../src/store/connection/sql.ts";

/** Lets the mirror be of any service again: on loopback the same service comes back on another port. */
export async function forgetService(sql: Sql): Promise<void> {
  await sql`delete from sync.service`;
}
