/** What writers note for the next refresh, and the nightly comparison that finds what nobody noted. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type RefreshOptions, refreshReport } from "../../src/report/refresh/refresh.ts";
import type { Sql, TransactionSql } from "../../src/store/connection/sql.ts";
import { startCli } from "../support/cli.ts";
import { createTestDatabase, type TestDatabase, withTestSql } from "../support/database.ts";
import { holdRefreshes } from "../support/leases.ts";
import { startQuickWorld } from "../support/quick-world.ts";
import { REPORT_SETTINGS } from "../support/reported-mirror.ts";
import { insertOneVersion } from "./insert-rows.ts";

const settings = REPORT_SETTINGS;
let database: TestDatabase;
let sql: Sql;

const refresh = (options: Partial<RefreshOptions> = {}) =>
  refreshReport(database.sql, { ...settings, ...options });

const addBuild = (tx: Sql | TransactionSql, id: string) => tx`
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  values (${id}, '2024-05-01 10:00', 'finished', true, 'html', '1', '11', '2024-05-02', '2024-05-02', '\\x00')`;

const addRun = (kind: string) => sql`
  insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
  values (${kind}, 'succeeded', '2024-05-02', '2024-05-02', now(), 1, 'test')`;

const facts = async () => {
  const rows = await sql<{ id: string }[]>`select build_id as id from report.fact_builds order by 1`;
  return rows.map(({ id }) => id);
};

const waiting = async (to: Sql) => [
  ...(await to`
    select from pg_locks
    where not granted and database = (select oid from pg_database where datname = current_database())`),
];

const noted = async () => [
  ...(await sql`select resource, record_id as id from sync.touched_records order by 1, 2`),
];

beforeEach(async () => {
  database = await createTestDatabase({ max: 3 });
  sql = database.sql;
  await insertOneVersion(sql);
  await addBuild(sql, "1");
});
afterEach(() => database?.dispose());

describe("the records that writers note", () => {
  test("have no ids before the first refresh, which takes them all", async () => {
    expect(await noted()).toEqual([
      { resource: "build", id: null },
      { resource: "project", id: null },
      { resource: "version", id: null },
    ]);
    expect(await refresh()).toMatchObject({ changed: 1, isFull: true });
    expect(await noted()).toEqual([]);
  });

  test("are each project, version and build whose row, state or last sight changed", async () => {
    await refresh();
    await sql`update mirror.projects set name = 'pip'`;
    await sql`update mirror.versions set slug = 'newest'`;
    await addBuild(sql, "2");
    await sql`insert into mirror.build_transitions (build_id, seq, to_state, not_before, not_after, run_id) values ('1', 1, 'finished', now(), now(), 1)`;
    await sql`insert into sync.open_builds (build_id, since, seen_at, run_id) values ('2', now(), now(), 1)`;
    await sql`update mirror.builds set state = state where false`;
    expect(await noted()).toEqual([
      { resource: "build", id: "1" },
      { resource: "build", id: "2" },
      { resource: "build", id: "2" },
      { resource: "project", id: "1" },
      { resource: "version", id: "11" },
    ]);
    expect(await refresh()).toMatchObject({ changed: 2, isFull: false });
    expect(await noted()).toEqual([]);
    const names = await sql`
      select project_name, version_slug from report.dim_projects join report.dim_versions using (project_id) where project_id = '1'`;
    expect([...names]).toEqual([{ project_name: "pip", version_slug: "newest" }]);
  });

  test("are one row a statement beyond 64 MB; then everything is computed anew", {
    tags: ["long"],
  }, async () => {
    await refresh();
    await sql`
      insert into sync.touched_records select 'build', string_agg(md5(n::text || m), '')
      from generate_series(1, 34000) as n, generate_series(1, 60) as m group by n`;
    for (const id of ["2", "3"]) await addBuild(sql, id);
    expect([...(await sql`select from sync.touched_records where record_id is null`)]).toHaveLength(2);
    expect(await refresh()).toMatchObject({ changed: 3, isFull: true, repaired: null });
    expect(await facts()).toEqual(["1", "2", "3"]);
    // An autovacuum at the same moment has the lock; the next refresh takes it.
    const bytes = async () => {
      await refresh();
      return (await sql`select pg_relation_size('sync.touched_records') as bytes`)[0]?.bytes;
    };
    await expect.poll(bytes).toBe(0);
  });
});

test("a refresh where nothing changed reads no table of builds and writes one row", async () => {
  await refresh();
  const rows = () => sql`
    select 'fact', xmin::text from rollup.builds union all select 'day', xmin::text from rollup.days
    union all select 'calendar', max(xmin::text) from report.dim_dates`;
  const before = [...(await rows())];
  await sql.begin(async (tx) => {
    await tx`
      lock table mirror.projects, mirror.versions, mirror.builds, mirror.build_logs, mirror.build_transitions, sync.open_builds,
        report.dim_projects, report.dim_versions, rollup.builds, rollup.project_days, rollup.days,
        rollup.series, rollup.streaks, rollup.errors, rollup.hours, rollup.resources in access exclusive mode`;
    const url = new URL(database.url);
    url.searchParams.set("lock_timeout", "1");
    await addRun("watch");
    const refreshed = withTestSql(url.href, (own) => refreshReport(own, settings));
    expect(await refreshed).toMatchObject({ changed: 0, runId: 1 });
  });
  expect([...(await rows())]).toEqual(before);
});

describe("the comparison of all facts", () => {
  const found = async () => {
    const [row] = await sql<{ repaired: number; checked: boolean }[]>`
      select facts_repaired as repaired, facts_checked_at > now() - interval '1 minute' as checked
      from report.freshness where resource = 'build'`;
    return row;
  };
  const longAgo = () => sql`update rollup.state set checked_at = checked_at - interval '1 day'`;

  beforeEach(async () => {
    await addBuild(sql, "2");
    await addBuild(sql, "3");
    await refresh();
  });

  test("comes after a sync, once in a night, and finds nothing where all was noted", async () => {
    await addRun("full");
    expect(await refresh()).toMatchObject({ repaired: null });
    await longAgo();
    await addRun("watch");
    expect(await refresh()).toMatchObject({ repaired: null });
    await addRun("incremental");
    await addBuild(sql, "4");
    expect(await refresh()).toMatchObject({ changed: 1, repaired: 0 });
    expect(await found()).toEqual({ repaired: 0, checked: true });
    await addRun("incremental");
    expect(await refresh()).toMatchObject({ repaired: null });
  });

  test("computes again the facts that somebody changed, deleted or made up, and counts them", {
    tags: ["long"],
  }, async () => {
    await sql`update rollup.builds set outcome = 'failed', succeeded = 0, failed = 1 where build_id = '1'`;
    await sql`delete from rollup.builds where build_id = '2'`;
    await sql`
      insert into rollup.builds (build_id, project_id, version_id, type, outcome, is_settled, is_time_ambiguous, first_seen_at, record_hash)
      values ('99', '1', '11', 'html', 'open', false, false, now(), '\\x00')`;
    await sql`update report.dim_projects set project_name = 'nobody' where project_id = '1'`;
    await sql`update rollup.series set builds = 7`;
    await longAgo();
    await addRun("full");
    await addBuild(sql, "4");
    expect(await refresh()).toMatchObject({ changed: 4, repaired: 3 });
    expect(await found()).toEqual({ repaired: 3, checked: true });
    const series = sql`select builds, succeeded, failed from report.success_rate_by_project`;
    expect(await series).toEqual([{ builds: 4, succeeded: 4, failed: 0 }]);
    const projects = sql`select project_name from report.dim_projects where project_id = '1'`;
    expect(await projects).toEqual([{ project_name: "Pip" }]);
    expect(await refresh({ check: true })).toMatchObject({ changed: 0, repaired: 0 });
    expect(await found()).toEqual({ repaired: 0, checked: true });
  });
});

const SMALL = { users: 15, projects: 15, versions: 40, files: 20, builds: 200 };

test("a process killed between its run and its refresh loses nothing", { tags: ["long"] }, async () => {
  await using quick = await startQuickWorld(SMALL);
  const report = { sourceTimezone: quick.world.settings.timeZone, stuckAfterMs: settings.stuckAfterMs };
  await quick.sync();
  await refreshReport(quick.sql, report);
  const ids = quick.world.triggerBuilds(3);
  await holdRefreshes(quick.sql);
  const env = { DATABASE_URL: quick.databaseUrl, DOCMIRROR_RATE: "1000", DOCMIRROR_PAGE_SIZE: "20" };
  await using cli = startCli(["sync", "--full", "--base-url", quick.simulation.url], { env });
  await expect.poll(async () => (await waiting(quick.sql)).length).toBe(1);
  cli.signal("SIGKILL");
  expect((await cli.ended).signal).toBe("SIGKILL");
  await quick.sql`rollback`;
  await refreshReport(quick.sql, { ...report, keepsSettings: true });
  const known = await quick.sql`select from report.fact_builds where build_id in ${quick.sql(ids)}`;
  expect([...known]).toHaveLength(3);
  const checked = await refreshReport(quick.sql, { ...report, check: true });
  expect(checked).toMatchObject({ changed: 0, repaired: 0 });
});
