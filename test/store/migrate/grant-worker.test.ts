import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { connect } from "../../../src/store/connection/connect.ts";
import { findLackingRights, grantWorker } from "../../../src/store/migrate/rights.ts";
import { createTestDatabase } from "../../support/database.ts";

test("a role that grantWorker gave its rights lacks none for a sync, and from Postgres 17 on analyzes the tables", async () => {
  await using database = await createTestDatabase();
  const role = `docmirror_test_${randomBytes(6).toString("hex")}`;
  const notices: string[] = [];
  const sql = connect(database.url, {
    ...{ applicationName: "docmirror test", max: 1 },
    onNotice: ({ message }) => void notices.push(message ?? ""),
  });
  try {
    await sql.unsafe(`create role ${role}`);
    await grantWorker(sql, role);
    await sql.unsafe(`set role ${role}`);
    const { sync, migrate } = await findLackingRights(sql);
    expect(sync).toEqual([]);
    expect(migrate).toContainEqual(expect.stringMatching(/^change the schema mirror, which belongs to /));
    const [server] = await sql<{ isNew: boolean }[]>`
      select current_setting('server_version_num')::int >= 170000 as "isNew"`;
    await sql`analyze rollup.builds`;
    await sql`vacuum (skip_locked) sync.touched_records`;
    expect(notices.filter((notice) => /permission denied to (?:analyze|vacuum)/.test(notice))).toHaveLength(
      server?.isNew ? 0 : 2,
    );
  } finally {
    await sql.unsafe(`reset role; drop owned by ${role}; drop role ${role}`);
    await sql.end({ timeout: 5 });
  }
});
