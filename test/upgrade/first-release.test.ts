import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sql } from "../../src/store/connection/sql.ts";
import { readMigrations } from "../../src/store/migrate/migration-files.ts";
import { type CliResult, runCli, startCli } from "../support/cli.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import {
  findAnswerDifferences,
  findLost,
  findRecordDifferences,
  forgetDeleted,
  type History,
  readHistory,
  withMirror,
} from "./compare-upgraded.ts";
import { restoreFirstRelease } from "./restore-first-release.ts";
import { LATER_SERVICE } from "./stored-files.ts";
import { type StoredService, serveStored } from "./stored-service.ts";

describe("the mirror of the first release", { tags: ["long"], timeout: 300_000 }, () => {
  let service: StoredService;
  let upgraded: TestDatabase;
  let fresh: TestDatabase;
  let before: History;
  const run = (database: TestDatabase, ...args: string[]) =>
    runCli(args, {
      env: { DATABASE_URL: database.url, DOCMIRROR_BASE_URL: service.url, DOCMIRROR_RATE: "0" },
    });

  const told: {
    refused?: CliResult;
    status?: CliResult;
    dry?: CliResult;
    migrated?: CliResult;
    synced?: CliResult;
  } = {};

  beforeAll(async () => {
    service = await serveStored(LATER_SERVICE);
    [upgraded, fresh] = [await restoreFirstRelease(), await createTestDatabase()];
    before = await readHistory(upgraded.url);
    told.refused = await run(upgraded, "sync");
    told.status = await run(upgraded, "migrate", "--status", "--json");
    told.dry = await run(upgraded, "migrate", "--dry-run");
    told.migrated = await run(upgraded, "migrate", "--json");
    told.synced = await run(upgraded, "sync", "--json");
    expect(await run(fresh, "sync")).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await Promise.all([service?.[Symbol.asyncDispose](), upgraded?.dispose(), fresh?.dispose()]);
  });

  test("is refused until it is migrated", () => {
    const later = readMigrations()
      .slice(7)
      .map(({ tag }) => tag);
    expect(told.refused).toMatchObject({ code: 7, stderr: expect.stringContaining("docmirror migrate") });
    const status = JSON.parse(told.status?.stdout ?? "");
    const pending = status.migrations.filter((one: { appliedAt: string | null }) => one.appliedAt === null);
    expect(status).toMatchObject({ state: "older", usable: false, unknown: 0 });
    expect(pending.map(({ tag }: { tag: string }) => tag)).toEqual(later);
    for (const tag of later) expect(told.dry?.stdout).toContain(`-- ${tag}\n`);
    expect(JSON.parse(told.migrated?.stdout ?? "")).toMatchObject({ applied: later });
    expect(JSON.parse(told.synced?.stdout ?? "")).toMatchObject({ status: "succeeded", kind: "full" });
  });

  test("then has the records of a fresh mirror", async () => {
    expect(await findRecordDifferences(upgraded.url, fresh.url)).toEqual([]);
  });

  test("answers as a fresh mirror does, once deleted builds are left out", async () => {
    await using copy = await createTestDatabase({ copyOf: upgraded.url });
    await forgetDeleted(copy.url);
    expect(await run(copy, "report", "freshness")).toMatchObject({ code: 0, stderr: "" });
    expect(await findAnswerDifferences(copy.url, fresh.url)).toEqual([]);
  });

  test("keeps its history", async () => {
    const after = await readHistory(upgraded.url);
    for (const [name, rows] of Object.entries(before)) expect(rows.length, name).toBeGreaterThan(0);
    expect(findLost(before, after)).toEqual({});
    expect(after.transitions.length).toBeGreaterThan(before.transitions.length);
  });
});

describe("an upgrade", { tags: ["long"], timeout: 300_000 }, () => {
  const migrate = (database: TestDatabase) => startCli(["migrate"], { env: { DATABASE_URL: database.url } });
  /** Every relation and column, and what the ledgers hold. */
  const schemaOf = (database: TestDatabase) =>
    withMirror(database.url, async (sql) => [
      ...(await sql`
        select table_schema, table_name, column_name, data_type, is_nullable from information_schema.columns
        where table_schema in ('mirror', 'sync', 'report', 'report_people', 'rollup', 'drizzle') order by 1, 2, 3`),
      ...(await sql`select hash from drizzle.__drizzle_migrations order by id`),
    ]);
  const sessions = (sql: Sql, isWaiting: boolean) =>
    sql`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'docmirror migrate' and (not ${isWaiting} or wait_event_type = 'Lock')`;

  test("that is killed in the middle leaves the old schema whole", async () => {
    await using database = await restoreFirstRelease();
    const before = await schemaOf(database);
    await withMirror(database.url, async (holder) => {
      await holder.begin(async (tx) => {
        // The one before the last changes this table: the earlier ones have run by then.
        await tx`lock table report.error_rules in access share mode`;
        await using killed = migrate(database);
        await withMirror(database.url, (sql) =>
          expect.poll(async () => (await sessions(sql, true)).length).toBe(1),
        );
        killed.signal("SIGKILL");
        expect((await killed.ended).signal).toBe("SIGKILL");
      });
      await expect.poll(async () => (await sessions(holder, false)).length).toBe(0);
    });
    expect(await schemaOf(database)).toEqual(before);
    expect(await migrate(database).ended).toMatchObject({ code: 0 });
  });

  test("at the same time as another waits for it, and finds nothing to do", async () => {
    await using database = await restoreFirstRelease();
    const both = await Promise.all([migrate(database).ended, migrate(database).ended]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(both.filter(({ stdout }) => stdout.includes("applied 0007"))).toHaveLength(1);
    expect(both.filter(({ stdout }) => stdout.includes("nothing to apply"))).toHaveLength(1);
  });
});
