import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readDefinitions } from "../../../src/report/definitions.ts";
import { connect, withSql } from "../../../src/store/connection/connect.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { migrate, migrationStatus } from "../../../src/store/migrate/migrate.ts";
import { readMigrations } from "../../../src/store/migrate/migration-ledger.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

const definitions = readDefinitions();
const TAGS = readMigrations().map(({ tag }) => tag);

let database: TestDatabase;
let sql: Sql;
beforeEach(async () => {
  database = await createTestDatabase({ migrated: false });
  sql = connect(database.url, { applicationName: "docmirror test", max: 2 });
});
afterEach(async () => {
  await sql?.end();
  await database?.dispose();
});

/** What another program that uses drizzle leaves in the shared ledger: older than all of ours, and newer. */
async function addAnotherProgram(): Promise<void> {
  await sql.unsafe(`
    create schema if not exists drizzle;
    create table if not exists drizzle.__drizzle_migrations
      (id serial primary key, hash text not null, created_at bigint);
    insert into drizzle.__drizzle_migrations (hash, created_at) values ('first', 1), ('last', 99999999999999)`);
}

const others = async () => [
  ...(await sql`select hash, created_at from drizzle.__drizzle_migrations order by created_at`),
];
const OTHERS = [
  { hash: "first", created_at: 1 },
  { hash: "last", created_at: 99_999_999_999_999 },
];
const ledger = async () => [...(await sql`select tag, applied_at from sync.migrations order by tag`)];
const hasSchema = async () => (await sql`select from pg_namespace where nspname = 'drizzle'`).length === 1;

describe("the ledger of a new database", () => {
  test("is in schema sync, and there is no schema drizzle", async () => {
    await migrate(database.url, definitions);
    expect((await ledger()).map(({ tag }) => tag)).toEqual(TAGS);
    expect(await hasSchema()).toBe(false);
  });

  test("is not the one of another program, which is left alone", async () => {
    await addAnotherProgram();
    expect((await migrationStatus(sql, definitions)).state).toBe("older");
    expect(await migrate(database.url, definitions)).toMatchObject({ applied: TAGS });
    expect((await migrationStatus(sql, definitions)).state).toBe("current");
    expect(await others()).toEqual(OTHERS);
  });

  test("does not need to see the one of another program", async () => {
    await addAnotherProgram();
    const role = `docmirror_test_blind_${process.pid}`;
    const name = new URL(database.url).pathname.slice(1);
    await sql.unsafe(
      `create role ${role} login password 'blind'; grant create on database ${name} to ${role}`,
    );
    const url = Object.assign(new URL(database.url), { username: role, password: "blind" }).href;
    try {
      expect(await migrate(url, definitions)).toMatchObject({ applied: TAGS });
      const state = await withSql(url, { applicationName: "docmirror test" }, (own) =>
        migrationStatus(own, definitions),
      );
      expect(state).toMatchObject({ state: "current", unknown: 0 });
      expect(await others()).toEqual(OTHERS);
    } finally {
      await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
    }
  });
});

test("a migration whose file has another content than the one applied is another migration", {
  tags: ["long"],
}, async () => {
  await migrate(database.url, definitions);
  await sql`update sync.migrations set hash = 'x' where tag = ${TAGS[0] ?? ""}`;
  expect(await migrationStatus(sql, definitions)).toMatchObject({ state: "newer", unknown: 1 });
  await expect(migrate(database.url, definitions)).rejects.toMatchObject({ exitCode: 7 });
});

test.each([
  "role",
  "database",
])("strings whose backslashes escape, set for the %s, are no obstacle", async (where) => {
  const url = new URL(database.url);
  const role = `docmirror_test_backslash_${process.pid}`;
  const name = url.pathname.slice(1);
  await sql.unsafe(`create role ${role} login password 'p'; grant create on database ${name} to ${role}`);
  try {
    const whose = where === "role" ? `role ${role}` : `database ${name}`;
    await sql.unsafe(`alter ${whose} set standard_conforming_strings = off`);
    Object.assign(url, { username: role, password: "p" });
    expect(await migrate(url.href, definitions)).toMatchObject({ applied: TAGS });
    const [row] = await withSql(url.href, { applicationName: "t" }, (own) =>
      own.unsafe(String.raw`select '\n' as text`),
    );
    expect(row?.text).toBe(String.raw`\n`);
  } finally {
    await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
  }
});
