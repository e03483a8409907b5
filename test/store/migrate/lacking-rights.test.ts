import { describe, expect, test } from "vitest";
import { findLackingRights } from "../../../src/store/migrate/rights.ts";
import { createTestDatabase, type TestDatabaseOptions, withTestSql } from "../../support/database.ts";

let roles = 0;

/** What a new role lacks that was granted what `grants` say; ROLE and DATABASE stand for their names. */
async function lackingOf(grants: string, options: TestDatabaseOptions = {}) {
  await using database = await createTestDatabase(options);
  const role = `docmirror_test_${process.pid}_${roles++}`;
  const name = new URL(database.url).pathname.slice(1);
  return await withTestSql(database.url, async (sql) => {
    await sql.unsafe(`create role ${role}`);
    try {
      await sql.unsafe(grants.replaceAll("ROLE", role).replaceAll("DATABASE", name));
      await sql.unsafe(`set role ${role}`);
      return await findLackingRights(sql);
    } finally {
      await sql.unsafe(`reset role; drop owned by ${role}; drop role ${role}`);
    }
  });
}

const ALL_TABLES = `
  grant usage on schema mirror, sync, rollup, report to ROLE;
  grant select, insert, update, delete on all tables in schema mirror, sync, rollup, report to ROLE;
  revoke insert, update, delete on sync.migrations from ROLE`;

describe("findLackingRights", () => {
  test("of the owner finds nothing", async () => {
    await using database = await createTestDatabase();
    expect(await withTestSql(database.url, findLackingRights)).toEqual({ sync: [], migrate: [] });
  });

  test("of a role that may do nothing names the schemas", async () => {
    const { sync, migrate } = await lackingOf("select 1");
    expect(sync).toEqual(["mirror", "sync", "rollup", "report"].map((name) => `use the schema ${name}`));
    expect(migrate).toContainEqual(expect.stringMatching(/^change the schema mirror, which belongs to /));
  });

  test("of a role that may write all but one table names that table", async () => {
    const { sync } = await lackingOf(`${ALL_TABLES}; revoke delete, insert on sync.pages from ROLE`);
    expect(sync.toSorted()).toEqual(["delete from sync.pages", "insert into sync.pages"]);
  });

  test("of a role that may write but owns nothing is enough for a sync, not to migrate", async () => {
    const { sync, migrate } = await lackingOf(ALL_TABLES);
    expect(sync).toEqual([]);
    expect(migrate).toHaveLength(5);
  });

  test("of a role that may call no function of ours names it", async () => {
    const { sync } = await lackingOf(
      `${ALL_TABLES}; revoke execute on all functions in schema mirror from public`,
    );
    expect(sync).toContainEqual(expect.stringMatching(/^call mirror\.read_local_time\(/));
  });

  test("in an empty database is the right to create schemas", async () => {
    const empty = { migrated: false };
    expect((await lackingOf("select 1", empty)).sync).toEqual([
      expect.stringMatching(/^create schemas in the database docmirror_test_/),
    ]);
    const lacking = await lackingOf("grant create on database DATABASE to ROLE", empty);
    expect(lacking).toEqual({ sync: [], migrate: [] });
  });
});
