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

  test("have no ids while there is no answer about a build either, and the first builds are all computed at once", {
    tags: ["long"],
  }, async () => {
    await sql`delete from mirror.builds`;
    await refresh();
    await addBuild(sql, "2");
    await addBuild(sql, "3");
    expect(new Set((await noted()).map(({ id }) => id))).toEqual(new Set([null]));
    expect(await refresh()).toMatchObject({ changed: 2, isFull: true });
    expect(await facts()).toEqual(["2", "3"]);
    await addBuild(sql, "4");
    expect(await noted()).toEqual([{ resource: "build", id: "4" }]);
    expect(await refresh()).toMatchObject({ changed: 1, isFull: false });
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

  test("make a version main, or not, where only its project names another one", async () => {
    const main = async () => {
      await refresh();
      const rows = await sql<{ id: string }[]>`
        select version_id as id from report.dim_versions where is_main
        union all select build_id from report.fact_builds where is_main order by 1`;
      return rows.map(({ id }) => id);
    };
    expect(await main()).toEqual(["1", "11"]);
    await sql`update mirror.projects set default_version = 'stable'`;
    expect(await main()).toEqual([]);
    await sql`update mirror.projects set default_version = 'latest'`;
    expect(await main()).toEqual(["1", "11"]);
  });

  test("are those of rows that go by hand too: a project, with one version, while another version moves", async () => {
    await sql.unsafe(`
      insert into mirror.projects (id, source, listed, first_seen_at, changed_at, record_hash) values ('2', 'list', true, now(), now(), '\\x00');
      insert into mirror.versions (id, project_id, first_seen_at, changed_at, record_hash) values ('12', '1', now(), now(), '\\x00')`);
    await refresh();
    await sql.unsafe(`
      update mirror.builds set project_id = null, version_id = null;
      delete from mirror.versions where id = '11';
      update mirror.versions set project_id = '2';
      delete from mirror.projects where id = '1'`);
    expect(await refresh()).toMatchObject({ isFull: false });
    const versions = sql`select version_id, project_id from report.dim_versions where version_id <> '-1'`;
    expect([...(await versions)]).toEqual([{ version_id: "12", project_id: "2" }]);
  });

  test("come with the writer's transaction: one that commits while a refresh runs is for the next", {
    tags: ["long"],
  }, async () => {
    await refresh();
    await addBuild(sql, "2");
    const release = await sql.reserve();
    try {
      // The refresh has taken the noted builds and written their facts when it comes to the days.
      await release`begin`;
      await release`lock table rollup.project_days in access exclusive mode`;
      const refreshing = refresh();
      await expect.poll(async () => (await waiting(sql)).length).toBe(1);
      await addBuild(sql, "3");
      await sql.begin(async (tx) => {
        await addBuild(tx, "4");
        await release`commit`;
        expect(await refreshing).toMatchObject({ changed: 1 });
      });
    } finally {
      release.release();
    }
    expect(await facts()).toEqual(["1", "2"]);
    expect(await refresh()).toMatchObject({ changed: 2 });
    expect(await facts()).toEqual(["1", "2", "3", "4"]);
  });

  test("go away with a writer that rolls back, and stay when a refresh fails, of which all is computed anew", {
    tags: ["long"],
  }, async () => {
    await refresh();
    const writing = sql.begin(async (tx) => {
      await addBuild(tx, "2");
      throw new Error("rolled back");
    });
    await expect(writing).rejects.toThrow("rolled back");
    expect(await noted()).toEqual([]);
    await addBuild(sql, "3");
    await sql`alter table rollup.project_days add constraint full_up check (builds < 2)`;
    await expect(refresh()).rejects.toThrow(/full_up/);
    expect(await noted()).toEqual([{ resource: "build", id: "3" }]);
    await sql`alter table rollup.project_days drop constraint full_up`;
    expect(await refresh()).toMatchObject({ changed: 2, isFull: true });
    expect(await noted()).toEqual([]);
  });

  test("may lack a project whose version has an id: its list came while the first refresh ran", async () => {
    await sql`delete from sync.touched_records`;
    await sql`delete from mirror.builds`;
    await sql`delete from mirror.versions`;
    await sql`delete from mirror.projects`;
    await sql`insert into mirror.builds (id, first_seen_at, changed_at, record_hash) values ('1', now(), now(), '\\x00')`;
    const writer = await sql.reserve();
    try {
      await writer`begin`;
      await writer`
        insert into mirror.projects (id, source, listed, first_seen_at, changed_at, record_hash)
        values ('1', 'list', true, now(), now(), '\\x00')`;
      await refresh();
      await writer`commit`;
    } finally {
      writer.release();
    }
    await sql`
      insert into mirror.versions (id, project_id, first_seen_at, changed_at, record_hash) values ('11', '1', now(), now(), '\\x00')`;
    expect(await noted()).toEqual([
      { resource: "project", id: null },
      { resource: "version", id: "11" },
    ]);
    expect(await refresh()).toMatchObject({ isFull: true });
    const versions = sql`select version_id, project_id from report.dim_versions where version_id <> '-1'`;
    expect([...(await versions)]).toEqual([{ version_id: "11", project_id: "1" }]);
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

test("syncs and rounds note all that they change", { tags: ["long"] }, async () => {
  await using quick = await startQuickWorld(SMALL);
  const report = { sourceTimezone: quick.world.settings.timeZone, stuckAfterMs: settings.stuckAfterMs };
  const seen: number[] = [];
  await quick.sync();
  expect(await refreshReport(quick.sql, report)).toMatchObject({ isFull: true });
  for (const work of ["watch", "watch", "sync", "watch", "sync"] as const) {
    quick.world.advance(work === "sync" ? 20 * 3_600_000 : 30 * 60_000);
    quick.world.triggerBuilds(3);
    await quick[work]();
    seen.push((await refreshReport(quick.sql, report)).changed);
    const checked = await refreshReport(quick.sql, { ...report, check: true });
    expect(checked).toMatchObject({ changed: 0, repaired: 0 });
  }
  expect(Math.min(...seen)).toBeGreaterThan(2);
});
