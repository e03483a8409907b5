import { describe, expect, test, vi } from "vitest";
import { defaultValues } from "../../../src/base/config.ts";
import { SchemaVersionError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { readDefinitions } from "../../../src/report/definitions.ts";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import type { Definitions } from "../../../src/store/migrate/definitions.ts";
import {
  assertServerUsable,
  assertUsable,
  migrate,
  migrationStatus,
  pendingSql,
} from "../../../src/store/migrate/migrate.ts";
import { type PreparedDatabase, prepareDatabase } from "../../../src/store/migrate/prepare.ts";
import { grantWorker } from "../../../src/store/migrate/rights.ts";
import { startCli } from "../../support/cli.ts";
import { countWaits, createTestDatabase, type TestDatabase, withTestSql } from "../../support/database.ts";
import { HELD } from "../../support/leases.ts";
import { makeNextRelease } from "../../support/next-release.ts";
import { replaceDatabase } from "../../support/replace-database.ts";
import { createRole } from "../../support/roles.ts";
import { emptyDatabase, useDatabase } from "../../support/use-database.ts";

const definitions = readDefinitions();
const useEmpty = () => useDatabase(() => emptyDatabase(2), "test");
/** As a program with these definitions does at its start. */
const assertUsableBy = async (program: Definitions, on: Sql) =>
  assertUsable(await migrationStatus(on, program));
const useMigrated = () => useDatabase(() => createTestDatabase({ max: 2 }), "test");
/** The migrations of this program and one more. */
async function loadNext(migration: string) {
  const { tag, folder, [Symbol.dispose]: dispose } = makeNextRelease({ migration });
  const next: Pick<typeof import("../../../src/store/migrate/migrate.ts"), "migrate" | "migrationStatus"> =
    await import(new URL("src/store/migrate/migrate.ts", folder).href);
  return { tag, ...next, [Symbol.dispose]: dispose };
}

describe("migrate", () => {
  const database = useEmpty();
  const { sql } = database;

  test("an empty database is older and gets every migration, once", async () => {
    expect(await migrationStatus(sql, definitions)).toMatchObject({ state: "older", unknown: 0 });
    const hint = expect.stringContaining("docmirror migrate");
    await expect(assertUsableBy(definitions, sql)).rejects.toMatchObject({ exitCode: 7, hint });
    const { applied, redefined } = await migrate(database.url, definitions);
    const status = await migrationStatus(sql, definitions);
    expect(status.state).toBe("current");
    expect(applied).toEqual(status.migrations.map(({ tag }) => tag));
    expect(redefined).toEqual(definitions.inOrder.map(({ name }) => name));
    expect(status.migrations[0]?.appliedAt).toMatch(/^20\d\d-.*\+00$/);
    expect((await sql`select to_regclass('mirror.builds') is not null as there`)[0]?.there).toBe(true);
    expect(await migrate(database.url, definitions)).toEqual({ applied: [], redefined: [], newer: false });
    expect(await migrationStatus(sql, definitions)).toEqual(status);
  });

  test("several at once apply each migration once", { tags: ["long"] }, async () => {
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
      await expect.poll(() => countWaits(sql)).toBeGreaterThan(0);
      stop.abort(reason);
      await expect(waiting).rejects.toBe(reason);
    });
    expect(await migrationStatus(sql, definitions)).toMatchObject({ state: "older" });
  });

  test("a failing migration leaves nothing behind", async () => {
    await sql`create schema sync`;
    const failed = migrate(database.url, definitions);
    await expect(failed).rejects.toMatchObject({ sqlstate: "42P06", exitCode: 4 });
    expect((await sql`select to_regnamespace('mirror') is null as gone`)[0]?.gone).toBe(true);
  });
});

describe("a lock that another session holds", () => {
  const PATIENCE = { lockWaitMs: 50, pauseMs: 50 };
  const ADDITIVE = `-- additive: a table more\nCREATE TABLE "sync"."next_things" ("id" bigint);`;
  const NOT_ADDITIVE = `-- not additive: as a test wants\n${ADDITIVE}`;
  const database = useMigrated();
  const { sql } = database;

  test("is waited for in short turns, so that others pass", async () => {
    using next = await loadNext(ADDITIVE);
    let migrated: Promise<unknown> = Promise.resolve();
    await sql.begin(async (tx) => {
      await tx`lock table sync.migrations in share mode`;
      migrated = next.migrate(database.url, definitions, PATIENCE);
      const waiting = () =>
        sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      for (const count of [1, 0, 1]) await expect.poll(waiting, { interval: 10 }).toHaveLength(count);
    });
    expect(await migrated).toMatchObject({ applied: [next.tag] });
  });

  test("is named when the patience is over, and nothing is changed", { tags: ["long"] }, async () => {
    using next = await loadNext(ADDITIVE);
    await sql.begin(async (tx) => {
      await tx`lock table sync.migrations in share mode`;
      const refused = next.migrate(database.url, definitions, { patienceMs: 0 });
      const message = expect.stringMatching(/session \d+ \(docmirror test\) of role .+ since .+Z/);
      await expect(refused).rejects.toMatchObject({ exitCode: 4, sqlstate: "55P03", message });
    });
    expect(await next.migrationStatus(sql, definitions)).toMatchObject({ state: "older" });
  });

  test("for a run is waited for where a migration is not additive", { tags: ["long"] }, async () => {
    using next = await loadNext(NOT_ADDITIVE);
    await sql.unsafe(HELD("run"));
    const refused = next.migrate(database.url, definitions, { ...PATIENCE, patienceMs: 100 });
    const hint = expect.stringContaining("stop the worker");
    await expect(refused).rejects.toMatchObject({ exitCode: 10, hint });
    await sql`update sync.leases set until = '-infinity'`;
    expect(await next.migrate(database.url, definitions, PATIENCE)).toMatchObject({ applied: [next.tag] });
  });
});

describe("a process that upgrades an older schema", { tags: ["long"], timeout: 120_000 }, () => {
  const database = useMigrated();
  const { sql } = database;
  const MIGRATION = `-- additive: a table and a column more
CREATE TABLE "sync"."next_things" ("id" bigint);
--> statement-breakpoint
ALTER TABLE "mirror"."builds" ADD COLUMN "next_field" text;`;
  const start = (script: URL) => startCli(["migrate"], { script, env: { DATABASE_URL: database.url } });
  /** Processes that made the table and wait for the column, and those that wait for their turn, at one moment. */
  const readWaits = async () => {
    const [waits] = await sql<{ column: number; turn: number }[]>`
      select count(*) filter (where relation = 'mirror.builds'::regclass)::int as column,
        count(*) filter (where relation = 'sync.migrations'::regclass)::int as turn
      from pg_locks join pg_database on pg_database.oid = database
      where not granted and datname = current_database()`;
    return waits;
  };
  const readSchema = async () => [
    await sql`
      select table_schema, table_name, column_name, data_type, is_nullable from information_schema.columns
      where table_schema in ('mirror', 'sync', 'report', 'report_people', 'rollup') order by 1, 2, 3`,
    await sql`select * from sync.migrations order by tag`,
    await sql`select * from sync.definitions order by name`,
  ];

  test("and is killed in the middle leaves it whole, and the next one goes on", async () => {
    using next = makeNextRelease({ migration: MIGRATION });
    const before = await readSchema();
    await sql.begin(async (tx) => {
      await tx`lock table mirror.builds in access share mode`;
      await using killed = start(next.script);
      await expect.poll(readWaits, { timeout: 60_000, interval: 20 }).toEqual({ column: 1, turn: 0 });
      killed.signal("SIGKILL");
      expect((await killed.ended).signal).toBe("SIGKILL");
    });
    const sessions = () =>
      sql`select from pg_stat_activity where datname = current_database() and application_name = 'docmirror migrate'`;
    await expect.poll(sessions).toHaveLength(0);
    expect(await readSchema()).toEqual(before);
    const again = { code: 0, stdout: expect.stringContaining(next.tag) };
    expect(await start(next.script).ended).toMatchObject(again);
  });
});

describe("a database that a later program migrated", () => {
  const database = useMigrated();
  const { sql } = database;
  const add = (additive: boolean) =>
    sql`insert into sync.migrations values ('0999_of_tomorrow', 'x', now(), ${additive})`;
  const redefine = () =>
    sql`update sync.definitions set version = '99.0.0', hash = 'x' where name = 'report.failing_now'`;

  test("is usable where all of it is additive", async () => {
    await add(true);
    await redefine();
    const newer = { state: "newer", usable: true, unknown: 1 };
    expect(await migrationStatus(sql, definitions)).toMatchObject(newer);
    await assertUsableBy(definitions, sql);
    expect(await migrate(database.url, definitions)).toEqual({ applied: [], redefined: [], newer: true });
    expect((await refreshReport(database.sql, defaultValues())).isLeft).toBe(true);
  });

  test("has its reports refreshed by any program that knows them", async () => {
    await add(true);
    expect((await refreshReport(database.sql, defaultValues())).isLeft).toBe(false);
  });

  test("is not usable where one migration is not, and not touched", async () => {
    await add(false);
    await expect(migrate(database.url, definitions)).rejects.toBeInstanceOf(SchemaVersionError);
    const hint = expect.stringMatching(/upgrade/);
    await expect(assertUsableBy(definitions, sql)).rejects.toMatchObject({ exitCode: 7, hint });
    expect(await migrationStatus(sql, definitions)).toMatchObject({ state: "newer", unknown: 1 });
  });

  test("is not usable where it lacks a migration of ours, or a column of a report", {
    tags: ["long"],
  }, async () => {
    await add(true);
    await redefine();
    await sql`alter view report.failing_now rename column reference to renamed`;
    expect(await migrationStatus(sql, definitions)).toMatchObject({ state: "newer", usable: false });
    await sql`alter view report.failing_now rename column renamed to reference`;
    expect(await migrationStatus(sql, definitions)).toMatchObject({ usable: true });
    using next = await loadNext("-- additive: nothing\nselect 1;");
    expect(await next.migrationStatus(sql, definitions)).toMatchObject({ state: "newer", usable: false });
  });
});

describe("pendingSql", () => {
  const { sql } = useEmpty();

  test("is what brings an empty database up, and empty afterwards", async () => {
    const text = await pendingSql(sql, definitions);
    expect(text).toMatch(/CREATE TABLE "mirror"."builds"/);
    await sql.unsafe(text);
    expect((await sql`select to_regclass('mirror.builds') is not null as there`)[0]?.there).toBe(true);
    await using other = await createTestDatabase();
    expect(await withTestSql(other.url, (migrated) => pendingSql(migrated, definitions))).toBe("");
  });
});

test("a database that is not UTF-8 is refused", async () => {
  await using database = await emptyDatabase();
  const name = `docmirror_test_ascii_${process.pid}`;
  const encoding = "encoding 'SQL_ASCII' locale_provider libc lc_collate 'C' lc_ctype 'C'";
  await database.sql.unsafe(`create database ${name} template template0 ${encoding}`);
  const refused = withTestSql(replaceDatabase(database.url, name), assertServerUsable);
  await expect(refused).rejects.toMatchObject({ exitCode: 4, message: expect.stringMatching(/SQL_ASCII/) });
  await database.sql.unsafe(`drop database ${name}`);
});

const open = (url: string, embedded = false): PreparedDatabase => ({
  url,
  describe: "a test database",
  embedded: embedded ? {} : null,
});
const stateOf = async ({ sql }: TestDatabase) => (await migrationStatus(sql, definitions)).state;

describe("a database", () => {
  const NAME = "that never had our schema gets it, and is prepared again (embedded: %s)";
  const getsIt = async (embedded: boolean) => {
    await using database = await createTestDatabase({ migrated: false });
    for (let time = 0; time < 2; time++) {
      await prepareDatabase(open(database.url, embedded), database.sql, definitions, silentLog);
      expect(await stateOf(database)).toBe("current");
    }
  };
  test.each([true])(NAME, getsIt);
  test.each([false])(NAME, { tags: ["long"] }, getsIt);

  test("whose schema is newer than the program is refused", async () => {
    await using database = await createTestDatabase();
    await database.sql`insert into sync.migrations values ('0999_of_tomorrow', 'x', now(), false)`;
    const refused = prepareDatabase(open(database.url, true), database.sql, definitions, silentLog);
    await expect(refused).rejects.toBeInstanceOf(SchemaVersionError);
  });

  test("of the user's own whose schema is older is left to migrate", async () => {
    await using database = await createTestDatabase();
    using next = makeNextRelease({ migration: "-- additive: nothing\nselect 1;" });
    const { prepareDatabase }: typeof import("../../../src/store/migrate/prepare.ts") = await import(
      new URL("src/store/migrate/prepare.ts", next.folder).href
    );
    const refused = prepareDatabase(open(database.url), database.sql, definitions, silentLog);
    await expect(refused).rejects.toMatchObject({
      exitCode: 7,
      message: expect.stringMatching(/1 of \d+ migrations are missing/),
      hint: expect.stringContaining("docmirror migrate"),
    });
    expect(await stateOf(database)).toBe("current");
  });

  test("whose views are not the program's is left to migrate, or follows by itself when it is embedded", async () => {
    await using database = await createTestDatabase();
    const changed = definitions.inOrder.map((one) => ({ ...one, hash: `${one.hash}0` })).slice(0, 1);
    const other = { ...definitions, inOrder: [...changed, ...definitions.inOrder.slice(1)] };
    await expect(prepareDatabase(open(database.url), database.sql, other, silentLog)).rejects.toMatchObject({
      exitCode: 7,
      hint: expect.stringContaining("docmirror migrate"),
    });
    await prepareDatabase(open(database.url, true), database.sql, other, silentLog);
    await prepareDatabase(open(database.url), database.sql, other, silentLog);
  });

  test.each([
    true,
    false,
  ])("where its role may make no temporary tables is prepared with a warning (migrated: %s)", {
    tags: ["long"],
  }, async (migrated) => {
    await using database = await createTestDatabase({ migrated });
    const name = new URL(database.url).pathname.slice(1);
    await using role = await createRole(
      database,
      `revoke temporary on database ${name} from public; grant create on database ${name} to ROLE`,
    );
    if (migrated) await grantWorker(database.sql, role.name);
    await database.sql.unsafe(`revoke temporary on database ${name} from ${role.name}`);
    const warn = vi.fn();
    const log = { ...silentLog, info: () => {}, warn } as unknown as typeof silentLog;
    await withTestSql(role.url, async (own) => {
      for (let time = 0; time < 2; time++) await prepareDatabase(open(role.url), own, definitions, log);
    });
    const hint = `run \`grant temporary on database ${name} to ${role.name}\` as the owner of the database`;
    expect(warn.mock.calls).toEqual([[{ hint }, expect.stringContaining("may not make temporary tables")]]);
  });

  test("is left alone when asked to stop", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase({ migrated: false });
    const reason = new Error("stop");
    const stopped = prepareDatabase(
      open(database.url),
      database.sql,
      definitions,
      silentLog,
      AbortSignal.abort(reason),
    );
    await expect(stopped).rejects.toBe(reason);
    await migrate(database.url, definitions);
    expect(await stateOf(database)).toBe("current");
  });
});
