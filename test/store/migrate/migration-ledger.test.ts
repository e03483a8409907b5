import { fileURLToPath } from "node:url";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate as migrateByDrizzle } from "drizzle-orm/postgres-js/migrator";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readDefinitions } from "../../../src/report/definitions.ts";
import { connect, withSql } from "../../../src/store/connection/connect.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { withTransaction } from "../../../src/store/connection/transaction.ts";
import { applyDefinitions, findDefinitionChanges } from "../../../src/store/migrate/definitions.ts";
import { migrate, migrationStatus, pendingSql } from "../../../src/store/migrate/migrate.ts";
import { readMigrations } from "../../../src/store/migrate/migration-files.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

const definitions = readDefinitions();
const FOLDER = fileURLToPath(new URL("../../../migrations", import.meta.url));
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

/** Migrates as versions before the ledger of our own did; the views and functions are those of today. */
async function migrateAsBefore(): Promise<void> {
  await sql.unsafe(`
    create schema if not exists drizzle;
    create table if not exists drizzle.__drizzle_migrations
      (id serial primary key, hash text not null, created_at bigint);
    alter table drizzle.__drizzle_migrations add column if not exists applied_at timestamptz default now()`);
  // A client of its own: drizzle changes how one writes parameters.
  await withSql(database.url, { applicationName: "docmirror test", max: 1 }, (own) =>
    migrateByDrizzle(drizzle(own), { migrationsFolder: FOLDER }),
  );
  await withTransaction(sql, async (tx) =>
    applyDefinitions(tx, await findDefinitionChanges(tx, definitions), definitions.version),
  );
}

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

describe("the ledger of an older version", () => {
  test("is read by commands that only read, and stays where it is", { tags: ["long"] }, async () => {
    await migrateAsBefore();
    await addAnotherProgram();
    const before = await others();
    const session = { default_transaction_read_only: "on" };
    const status = await withSql(database.url, { applicationName: "t", session }, (own) =>
      migrationStatus(own, definitions),
    );
    expect(status).toMatchObject({ state: "current", unknown: 0 });
    for (const { appliedAt } of status.migrations) expect(appliedAt).toMatch(/^20\d\d-.*\+00$/);
    expect(await pendingSql(sql, definitions)).toBe("");
    expect(await others()).toEqual(before);
    await sql`delete from drizzle.__drizzle_migrations where hash = ${readMigrations().at(-1)?.hash ?? ""}`;
    expect((await migrationStatus(sql, definitions)).state).toBe("older");
  });

  test("moves with its times when the schema is migrated, and leaves nothing behind", async () => {
    await migrateAsBefore();
    await sql`update drizzle.__drizzle_migrations set applied_at = '2024-05-06 07:08:09+00'`;
    const before = await migrationStatus(sql, definitions);
    expect(await migrate(database.url, definitions)).toMatchObject({ applied: [] });
    expect(await migrationStatus(sql, definitions)).toEqual(before);
    expect((await ledger())[0]).toEqual({ tag: TAGS[0], applied_at: "2024-05-06 07:08:09+00" });
    expect(await hasSchema()).toBe(false);
    expect(await migrate(database.url, definitions)).toMatchObject({ applied: [] });
  });

  test("moves without its times where it had none", { tags: ["long"] }, async () => {
    await migrateAsBefore();
    await sql`alter table drizzle.__drizzle_migrations drop column applied_at`;
    await migrate(database.url, definitions);
    expect((await migrationStatus(sql, definitions)).migrations[0]?.appliedAt).toBe("unknown");
  });

  test("leaves the rows of another program where they are", { tags: ["long"] }, async () => {
    await addAnotherProgram();
    // The other program's newest row would keep drizzle from applying ours, which is why the ledger moved.
    await sql`delete from drizzle.__drizzle_migrations where hash = 'last'`;
    await migrateAsBefore();
    await sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('last', 99999999999999)`;
    expect((await migrationStatus(sql, definitions)).state).toBe("current");
    await migrate(database.url, definitions);
    expect(await others()).toEqual(OTHERS);
    expect((await ledger()).map(({ tag }) => tag)).toEqual(TAGS);
  });

  test("leaves a schema in which something else is", { tags: ["long"] }, async () => {
    await migrateAsBefore();
    await sql`create table drizzle.mine ()`;
    await migrate(database.url, definitions);
    const tables = await sql`select tablename from pg_tables where schemaname = 'drizzle'`;
    expect([...tables]).toEqual([{ tablename: "mine" }]);
  });

  test("takes those who could read it along", { tags: ["long"] }, async () => {
    await migrateAsBefore();
    const role = `docmirror_test_syncer_${process.pid}`;
    await sql.unsafe(`create role ${role}; grant select on drizzle.__drizzle_migrations to ${role}`);
    try {
      await migrate(database.url, definitions);
      const [right] = await sql`select has_table_privilege(${role}, 'sync.migrations', 'select') as may`;
      expect(right?.may).toBe(true);
    } finally {
      await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
    }
  });

  test("of a mirror that was dropped since counts for nothing", { tags: ["long"] }, async () => {
    await migrateAsBefore();
    await sql`drop schema mirror, sync, rollup, report, report_people cascade`;
    expect((await migrationStatus(sql, definitions)).state).toBe("older");
    expect(await migrate(database.url, definitions)).toMatchObject({ applied: TAGS });
    expect(await hasSchema()).toBe(false);
  });
});

test("a migration whose file has another content than the one applied is another migration", {
  tags: ["long"],
}, async () => {
  await migrate(database.url, definitions);
  await sql`update sync.migrations set hash = 'x' where tag = ${TAGS[1] ?? ""}`;
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
