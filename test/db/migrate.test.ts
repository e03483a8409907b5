import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connect, replaceDatabase, type Sql } from "../../src/db/connect.ts";
import {
  assertSchemaUsable,
  assertServerUsable,
  migrate,
  migrationStatus,
  pendingSql,
} from "../../src/db/migrate.ts";
import { SchemaVersionError } from "../../src/errors.ts";
import { readDefinitions } from "../../src/report/definitions.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

const definitions = readDefinitions();
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

describe("migrate", () => {
  test("an empty database is older and gets every migration", async () => {
    expect(await migrationStatus(sql, definitions)).toMatchObject({ state: "older", unknown: 0 });
    const { applied, redefined } = await migrate(database.url, definitions);
    const status = await migrationStatus(sql, definitions);
    expect(status.state).toBe("current");
    expect(applied).toEqual(status.migrations.map(({ tag }) => tag));
    expect(redefined).toEqual(definitions.inOrder.map(({ name }) => name));
    expect(status.migrations[0]?.appliedAt).toMatch(/^20\d\d-.*\+00$/);
    expect((await sql`select to_regclass('mirror.builds') is not null as there`)[0]?.there).toBe(true);
  });

  test("a second migration does nothing", async () => {
    await migrate(database.url, definitions);
    const before = await migrationStatus(sql, definitions);
    expect(await migrate(database.url, definitions)).toEqual({ applied: [], redefined: [] });
    expect(await migrationStatus(sql, definitions)).toEqual(before);
  });

  test("several at once apply each migration once", async () => {
    const results = await Promise.all(Array.from({ length: 4 }, () => migrate(database.url, definitions)));
    expect(results.filter(({ applied }) => applied.length > 0)).toHaveLength(1);
    expect(results.filter(({ redefined }) => redefined.length > 0)).toHaveLength(1);
    const rows = await sql`select hash from sync.migrations`;
    expect(rows).toHaveLength((await migrationStatus(sql, definitions)).migrations.length);
  });

  test("one that waits for another can be stopped", async () => {
    const stop = new AbortController();
    const reason = new Error("stopped");
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(7305110624)`;
      const waiting = migrate(database.url, definitions, { signal: stop.signal });
      await expect
        .poll(
          async () => (await sql`select from pg_locks where locktype = 'advisory' and not granted`).length,
        )
        .toBeGreaterThan(0);
      stop.abort(reason);
      await expect(waiting).rejects.toBe(reason);
    });
    expect(await migrationStatus(sql, definitions)).toMatchObject({ state: "older" });
  });

  test("a failing migration leaves nothing behind", async () => {
    await sql`create schema sync`;
    await expect(migrate(database.url, definitions)).rejects.toMatchObject({
      sqlstate: "42P06",
      exitCode: 4,
    });
    expect((await sql`select to_regnamespace('mirror') is null as gone`)[0]?.gone).toBe(true);
  });

  test("a newer database is not touched", async () => {
    await migrate(database.url, definitions);
    await sql`insert into sync.migrations (tag, hash) values ('0999_of_tomorrow', 'x')`;
    await expect(migrate(database.url, definitions)).rejects.toBeInstanceOf(SchemaVersionError);
    await expect(assertSchemaUsable(sql, definitions)).rejects.toMatchObject({
      exitCode: 7,
      hint: expect.stringMatching(/upgrade/),
    });
    expect(await migrationStatus(sql, definitions)).toMatchObject({ state: "newer", unknown: 1 });
  });
});

describe("pendingSql", () => {
  test("is what brings an empty database up, and empty afterwards", async () => {
    const text = await pendingSql(sql, definitions);
    expect(text).toMatch(/CREATE TABLE "mirror"."builds"/);
    await sql.unsafe(text);
    expect((await sql`select to_regclass('mirror.builds') is not null as there`)[0]?.there).toBe(true);
    await using other = await createTestDatabase();
    const migrated = connect(other.url, { applicationName: "t" });
    expect(await pendingSql(migrated, definitions)).toBe("");
    await migrated.end();
  });
});

describe("assertSchemaUsable", () => {
  test("an older database asks for docmirror migrate", async () => {
    await expect(assertSchemaUsable(sql, definitions)).rejects.toMatchObject({
      exitCode: 7,
      hint: expect.stringContaining("docmirror migrate"),
    });
  });

  test("is content after migrate", async () => {
    await migrate(database.url, definitions);
    await assertSchemaUsable(sql, definitions);
  });
});

test("a database that is not UTF-8 is refused", async () => {
  const name = `docmirror_test_ascii_${process.pid}`;
  await sql.unsafe(
    `create database ${name} template template0 encoding 'SQL_ASCII' locale_provider libc lc_collate 'C' lc_ctype 'C'`,
  );
  const ascii = connect(replaceDatabase(database.url, name), { applicationName: "t" });
  await expect(assertServerUsable(ascii)).rejects.toMatchObject({
    exitCode: 4,
    message: expect.stringMatching(/SQL_ASCII/),
  });
  await ascii.end();
  await sql.unsafe(`drop database ${name}`);
});
