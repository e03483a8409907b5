import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { readMigrations } from "../../src/store/migrate/migration-files.ts";
import { type Compared, compareRows, readRelation } from "../report/compare.ts";
import { type CliResult, runCli, startCli } from "../support/cli.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { mirrorRows } from "../support/mirror-rows.ts";
import { restoreFirstRelease } from "./restore-first-release.ts";
import { LATER_SERVICE } from "./stored-files.ts";
import { type StoredService, serveStored } from "./stored-service.ts";

/** Answers that follow from the records alone, not from when somebody saw them. */
const OF_RECORDS: readonly Compared[] = [
  "dim_dates",
  "success_rate_daily",
  "success_rate_weekly",
  "success_rate_monthly",
  "success_rate_daily_by_project",
  "success_rate_weekly_by_project",
  "success_rate_by_project",
  "success_rate_by_version",
  "success_rate_by_type",
  "success_rate_without_platform",
  "failing_now",
  "failing_projects",
  "project_states",
  "instability",
  "flaky_series",
  "regressions",
  "broke_daily",
  "broke_weekly",
  "incident_hours",
  "error_classes",
  "error_fingerprints",
  "error_fingerprints_daily",
  "error_trend_weekly",
  "project_activity",
];

/** As if the mirror had never seen the builds that the service deleted. */
const FORGET_DELETED = `
  delete from mirror.build_logs using mirror.builds where build_id = builds.id and deleted_at is not null;
  delete from mirror.build_transitions using mirror.builds where build_id = builds.id and deleted_at is not null;
  delete from mirror.builds where deleted_at is not null;
  update rollup.state set definition = ''`;

/** What no upgrade may lose: each row as text, by its name. */
const HISTORY = {
  transitions:
    "select to_jsonb(t) - '{request,previous_request}'::text[] as row from mirror.build_transitions t",
  changes: "select to_jsonb(t) - '{observed_at}'::text[] as row from mirror.changes t",
  deletions:
    "select jsonb_build_object('id', id, 'deleted_at', deleted_at) as row from mirror.builds where deleted_at is not null",
  quarantine:
    "select jsonb_build_object('id', id, 'record', record_id, 'reason', reason, 'payload', payload) as row from sync.quarantine",
  drift: "select to_jsonb(t) - '{run_id}'::text[] as row from sync.drift t",
  runs: "select jsonb_build_object('id', id, 'kind', kind, 'status', status, 'started', started_at) as row from sync.runs",
};

const withMirror = <T>({ url }: TestDatabase, fn: (sql: Sql) => Promise<T>) =>
  withSql(url, { applicationName: "docmirror test", max: 1 }, fn);
const historyOf = (database: TestDatabase) =>
  withMirror(database, async (sql) => {
    const found: Record<string, string[]> = {};
    for (const [name, query] of Object.entries(HISTORY)) {
      found[name] = (await sql.unsafe<{ row: object }[]>(query)).map(({ row }) => JSON.stringify(row));
    }
    return found;
  });

describe("the mirror of the first release", { tags: ["long"], timeout: 300_000 }, () => {
  let service: StoredService;
  let upgraded: TestDatabase;
  let fresh: TestDatabase;
  let before: Record<string, string[]>;
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
    before = await historyOf(upgraded);
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
    const [ours, theirs] = await Promise.all([mirrorRows(upgraded.url), mirrorRows(fresh.url)]);
    for (const table of ["users", "projects", "versions", "files", "builds"]) {
      const live = ours[table]?.filter((row) => !row.includes('"deleted": true'));
      expect({ table, rows: live }).toEqual({ table, rows: theirs[table] });
    }
    // Logs of deleted builds stay; a reference to a user that was deleted since still finds its row.
    expect(ours.build_logs).toEqual(expect.arrayContaining(theirs.build_logs ?? []));
    expect(theirs.unresolved_references).toEqual(expect.arrayContaining(ours.unresolved_references ?? []));
    const users = (rows: string[] = []) =>
      rows
        .map((row) => JSON.parse(row))
        .map(({ project_id, position, user_uri }) => `${project_id} ${position} ${user_uri}`);
    expect(users(ours.project_users)).toEqual(expect.arrayContaining(users(theirs.project_users)));
  });

  test("answers as a fresh mirror does, once deleted builds are left out", async () => {
    await using copy = await createTestDatabase({ copyOf: upgraded.url });
    await withMirror(copy, (sql) => sql.unsafe(FORGET_DELETED).simple());
    expect(await run(copy, "report", "freshness")).toMatchObject({ code: 0, stderr: "" });
    const rowsOf = (database: TestDatabase, relation: Compared) =>
      withMirror(database, (sql) => readRelation(sql, relation));
    for (const relation of OF_RECORDS) {
      const differences = compareRows(relation, await rowsOf(copy, relation), await rowsOf(fresh, relation));
      expect({ relation, differences }).toEqual({ relation, differences: [] });
    }
  });

  test("keeps its history", async () => {
    const after = await historyOf(upgraded);
    for (const [name, rows] of Object.entries(before)) {
      expect(rows.length, name).toBeGreaterThan(0);
      expect({ name, lost: rows.filter((row) => !after[name]?.includes(row)) }).toEqual({ name, lost: [] });
    }
    expect(after.transitions?.length).toBeGreaterThan(before.transitions?.length ?? 0);
  });
});

describe("an upgrade", { tags: ["long"], timeout: 300_000 }, () => {
  const migrate = (database: TestDatabase) => startCli(["migrate"], { env: { DATABASE_URL: database.url } });
  /** Every relation and column, and what the ledgers hold. */
  const schemaOf = (database: TestDatabase) =>
    withMirror(database, async (sql) => [
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
    await withMirror(database, async (holder) => {
      await holder.begin(async (tx) => {
        // The one before the last changes this table: the earlier ones have run by then.
        await tx`lock table report.error_rules in access share mode`;
        await using killed = migrate(database);
        await withMirror(database, (sql) =>
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
