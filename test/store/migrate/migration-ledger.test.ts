import { describe, expect, test } from "vitest";
import { readDefinitions } from "../../../src/report/definitions.ts";
import { migrate, migrationStatus } from "../../../src/store/migrate/migrate.ts";
import { readMigrations } from "../../../src/store/migrate/migration-ledger.ts";
import { createTestDatabase, withTestSql } from "../../support/database.ts";
import { createRole } from "../../support/roles.ts";
import { emptyDatabase, useDatabase } from "../../support/use-database.ts";

const definitions = readDefinitions();
const TAGS = readMigrations().map(({ tag }) => tag);

const database = useDatabase(() => emptyDatabase(2), "test");
const { sql } = database;

/** A role that may make schemas here. */
const createMaker = () =>
  createRole(database, `grant create on database ${new URL(database.url).pathname.slice(1)} to ROLE`);

/** What another program that uses drizzle leaves in the shared ledger: older than all of ours, and newer. */
async function addAnotherProgram(): Promise<void> {
  await sql.unsafe(`
    create schema if not exists drizzle;
    create table if not exists drizzle.__drizzle_migrations
      (id serial primary key, hash text not null, created_at bigint);
    insert into drizzle.__drizzle_migrations (hash, created_at) values ('first', 1), ('last', 99999999999999)`);
}

const expectUntouched = async () =>
  expect(await sql`select hash, created_at from drizzle.__drizzle_migrations order by created_at`).toEqual([
    { hash: "first", created_at: 1 },
    { hash: "last", created_at: 99_999_999_999_999 },
  ]);

describe("the ledger of a new database", () => {
  test("is in schema sync, and there is no schema drizzle", async () => {
    await migrate(database.url, definitions);
    const ledger = await sql`select tag from sync.migrations order by tag`;
    expect(ledger.map(({ tag }) => tag)).toEqual(TAGS);
    expect(await sql`select from pg_namespace where nspname = 'drizzle'`).toHaveLength(0);
  });

  test("does not need to see the one of another program", { tags: ["long"] }, async () => {
    await addAnotherProgram();
    await using maker = await createMaker();
    expect(await migrate(maker.url, definitions)).toMatchObject({ applied: TAGS });
    const status = await withTestSql(maker.url, (own) => migrationStatus(own, definitions));
    expect(status).toMatchObject({ state: "current", unknown: 0 });
    await expectUntouched();
  });
});

test("a migration whose file was changed is another migration", async () => {
  await using migrated = await createTestDatabase();
  await migrated.sql`update sync.migrations set hash = 'x' where tag = ${TAGS[0] ?? ""}`;
  expect(await migrationStatus(migrated.sql, definitions)).toMatchObject({ state: "newer", unknown: 1 });
  await expect(migrate(migrated.url, definitions)).rejects.toMatchObject({ exitCode: 7 });
});

test.each(["role", "database"])("escaping backslashes, set for the %s, are no obstacle", {
  tags: ["long"],
}, async (where) => {
  const name = new URL(database.url).pathname.slice(1);
  await using maker = await createMaker();
  const whose = where === "role" ? `role ${maker.name}` : `database ${name}`;
  await sql.unsafe(`alter ${whose} set standard_conforming_strings = off`);
  expect(await migrate(maker.url, definitions)).toMatchObject({ applied: TAGS });
  const [row] = await withTestSql(maker.url, (own) => own.unsafe(String.raw`select '\n' as text`));
  expect(row?.text).toBe(String.raw`\n`);
});
