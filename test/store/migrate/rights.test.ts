import { describe, expect, test } from "vitest";
import { connect } from "../../../src/store/connection/connect.ts";
import { findLackingRights, grantWorker } from "../../../src/store/migrate/rights.ts";
import { createTestDatabase, type TestDatabaseOptions } from "../../support/database.ts";

let roles = 0;

/** What a new role lacks that was granted what `grants` say; ROLE and DATABASE stand for their names. */
async function lackingOf(grants: string, options: TestDatabaseOptions = {}) {
  await using database = await createTestDatabase(options);
  const { sql } = database;
  const role = `docmirror_test_${process.pid}_${roles++}`;
  await sql.unsafe(`create role ${role}`);
  try {
    const name = new URL(database.url).pathname.slice(1);
    await sql.unsafe(grants.replaceAll("ROLE", role).replaceAll("DATABASE", name));
    await sql.unsafe(`set role ${role}`);
    return await findLackingRights(sql);
  } finally {
    await sql.unsafe(`reset role; drop owned by ${role}; drop role ${role}`);
  }
}

const ALL_TABLES = `
  grant usage on schema mirror, sync, rollup, report to ROLE;
  grant select, insert, update, delete on all tables in schema mirror, sync, rollup, report to ROLE;
  revoke insert, update, delete on sync.migrations from ROLE`;

describe("findLackingRights", () => {
  test("of the owner finds nothing", async () => {
    await using database = await createTestDatabase();
    expect(await findLackingRights(database.sql)).toEqual({ sync: [], migrate: [] });
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
    const grants = `${ALL_TABLES}; revoke execute on all functions in schema mirror from public`;
    const { sync } = await lackingOf(grants);
    expect(sync).toContainEqual(expect.stringMatching(/^call mirror\.read_local_time\(/));
  });

  test("in an empty database is the right to create schemas", async () => {
    const empty = { migrated: false };
    const { sync } = await lackingOf("select 1", empty);
    expect(sync).toEqual([expect.stringMatching(/^create schemas in the database docmirror_test_/)]);
    const lacking = await lackingOf("grant create on database DATABASE to ROLE", empty);
    expect(lacking).toEqual({ sync: [], migrate: [] });
  });
});

test("a role that grantWorker gave its rights lacks none for a sync, and from Postgres 17 on analyzes the tables", async () => {
  await using database = await createTestDatabase();
  const role = `docmirror_test_${process.pid}_${roles++}`;
  const notices: string[] = [];
  const sql = connect(database.url, {
    applicationName: "docmirror test",
    max: 1,
    onNotice: ({ message }) => void notices.push(message ?? ""),
  });
  try {
    await sql.unsafe(`create role ${role}`);
    await grantWorker(sql, role);
    await sql.unsafe(`set role ${role}`);
    const { sync, migrate } = await findLackingRights(sql);
    expect(sync).toEqual([]);
    expect(migrate).toContainEqual(expect.stringMatching(/^change the schema mirror, which belongs to /));
    const [server] = await sql`select current_setting('server_version_num')::int >= 170000 as "isNew"`;
    await sql`analyze rollup.builds`;
    await sql`vacuum (skip_locked) sync.touched_records`;
    const refused = notices.filter((notice) => /permission denied to (?:analyze|vacuum)/.test(notice));
    expect(refused).toHaveLength(server?.isNew ? 0 : 2);
  } finally {
    await sql.unsafe(`reset role; drop owned by ${role}; drop role ${role}`);
    await sql.end({ timeout: 5 });
  }
});
