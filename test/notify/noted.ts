import { expect } from "vitest";
import { collectNotices } from "../../src/notify/notify.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { createTestDatabase } from "../support/database.ts";

export interface Noted {
  subject: string;
  type: string;
  data: Record<string, unknown> & { summary: string };
}

export interface LookedAt {
  sql: Sql;
  databaseUrl: string;
  /** Looks once, and gives what came. */
  look(...how: Parameters<typeof collectNotices> extends [Sql, ...infer How] ? How : never): Promise<Noted[]>;
}

/** A migrated database in which notices are looked for, without a service. */
export async function withNotices(work: (mirror: LookedAt) => Promise<void>): Promise<void> {
  await using database = await createTestDatabase();
  await withSql(database.url, { applicationName: "docmirror test", max: 2 }, async (sql) => {
    let seen = 0;
    await work({
      sql,
      databaseUrl: database.url,
      async look(...how) {
        const { noted: count } = await collectNotices(sql, ...how);
        const noted = await sql<(Noted & { id: number })[]>`
          select id, subject, type, data from sync.notices where id > ${seen} order by id`;
        seen = noted.at(-1)?.id ?? seen;
        expect(noted).toHaveLength(count);
        return noted.map(({ id: _id, ...rest }) => rest);
      },
    });
  });
}
