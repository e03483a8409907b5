import { expect } from "vitest";
import { collectNotices } from "../../src/notify/notify.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { createTestDatabase } from "../support/database.ts";
import { useDatabase } from "../support/use-database.ts";

export interface Noted {
  subject: string;
  type: string;
  data: Record<string, unknown> & { summary: string };
}

/** A migrated database for each test, in which notices are looked for without a service. */
export function useNotices() {
  const database = useDatabase(() => createTestDatabase({ max: 2 }), "test");
  const { sql } = database;
  async function look(
    ...how: Parameters<typeof collectNotices> extends [Sql, ...infer How] ? How : never
  ): Promise<Noted[]> {
    const [before] = await sql<{ id: number }[]>`select coalesce(max(id), 0) as id from sync.notices`;
    const { noted: count } = await collectNotices(sql, ...how);
    const noted = await sql<Noted[]>`
      select subject, type, data from sync.notices where id > ${before?.id ?? 0} order by id`;
    expect(noted).toHaveLength(count);
    return [...noted];
  }
  return { database, sql, look };
}
