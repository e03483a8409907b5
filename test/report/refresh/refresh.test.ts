import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import type { RunResult } from "../../../src/mirror/run/close-run.ts";
import type { RunOptions } from "../../../src/mirror/run/with-run.ts";
import {
  isReportBehind,
  type RefreshOptions,
  refreshReport,
  withReport,
} from "../../../src/report/refresh/refresh.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { connectionsOf } from "../../support/connections.ts";
import { countDatabase } from "../../support/counted-database.ts";
import { countWaits, createTestDatabase, type TestDatabase, withTestSql } from "../../support/database.ts";
import { holdRefreshes } from "../../support/leases.ts";
import { REPORT_SETTINGS } from "../../support/reported-mirror.ts";
import { insertOneVersion } from "../insert-rows.ts";

let database: TestDatabase;
let sql: Sql;

/** Finished builds of one series, an hour apart; `results` says of each whether it succeeded. */
async function addBuilds(from: number, results: readonly boolean[]): Promise<void> {
  for (const [place, success] of results.entries()) {
    const id = String(from + place);
    await sql`
      insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
      values (${id}, ${`2024-05-01 ${String(from + place).padStart(2, "0")}:30:00`}::timestamp, 'finished', ${success}, 'html', '1', '11',
        '2024-05-02', '2024-05-02', ${`\\x${id.padStart(4, "0")}`}::bytea)`;
    await sql`
      insert into mirror.build_transitions (build_id, seq, to_state, not_before, not_after, run_id)
      select id, 1, 'finished', date at time zone 'UTC', date at time zone 'UTC' + interval '1 minute', 1 from mirror.builds where id = ${id}`;
    await sql`insert into mirror.build_logs (build_id, error) values (${id}, ${success ? "" : `Error: disk ${id} is gone`})`;
  }
}

async function addRun(kind: string): Promise<number> {
  const [run] = await sql<{ id: number }[]>`
    insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
    values (${kind}, 'succeeded', '2024-05-02', '2024-05-02', now(), 1, 'test') returning id`;
  return run?.id ?? 0;
}

const series = () =>
  sql<{ builds: number; succeeded: number; failed: number }[]>`
    select builds, succeeded, failed from report.success_rate_by_project`.then((rows) => [...rows]);

const refresh = (more: Partial<RefreshOptions> = {}) =>
  refreshReport(database.sql, { ...REPORT_SETTINGS, ...more });

beforeEach(async () => {
  database = await createTestDatabase({ max: 2 });
  sql = database.sql;
  await insertOneVersion(sql);
  await addRun("full");
  await addBuilds(1, [true, false]);
});
afterEach(() => database?.dispose());

describe("refreshReport", () => {
  test("joins all builds without nested loops, whatever the planner thinks of the size of their tables", async () => {
    await using counted = await countDatabase(database.url);
    await withTestSql(counted.url, (through) => refreshReport(through, REPORT_SETTINGS));
    const { statements } = counted.take();
    const at = statements.findIndex((text) => text.startsWith("insert into rollup.builds "));
    expect(at).toBeGreaterThan(0);
    const set = statements.slice(0, at).findLast((text) => text.includes("enable_nestloop"));
    expect(set).toBe("set local enable_nestloop = off");
  });

  test("takes up what changed, tells the newest run, then has no work", { tags: ["long"] }, async () => {
    expect(await isReportBehind(sql)).toBe(true);
    expect(await refresh()).toEqual({ runId: 1, changed: 2, isFull: true, repaired: null, isLeft: false });
    expect(await series()).toEqual([{ builds: 2, succeeded: 1, failed: 1 }]);
    expect(await isReportBehind(sql)).toBe(false);

    await withTestSql(database.url, async (listening) => {
      const told: string[] = [];
      await listening.listen("docmirror_run", (payload) => told.push(payload));
      const runId = await addRun("watch");
      expect(await isReportBehind(sql)).toBe(true);
      await addBuilds(3, [true]);
      expect(await refresh()).toMatchObject({ runId, changed: 1, isFull: false });
      await expect.poll(() => told).toEqual([String(runId)]);
      expect(await refresh()).toMatchObject({ changed: 0, isFull: false });
    });
    expect(await series()).toEqual([{ builds: 3, succeeded: 2, failed: 1 }]);
  });

  test("counts the open builds of an hour that was covered since, though no record changed", async () => {
    const cover = (runId: number, at: string) => sql`
      insert into sync.walks (run_id, resource, walk, started_at, finished_at) values (${runId}, 'build', 'whole', ${at}, ${at})`;
    const hours = async () =>
      (await sql<{ hour: string }[]>`select hour from report.backlog order by hour`).map(({ hour }) => hour);
    await cover(1, "2024-05-01 03:10:00Z");
    await refresh();
    expect((await hours()).map((hour) => hour.slice(11, 13))).toEqual(["01", "02", "03"]);
    await sql`update rollup.state set dear_took_s = 0`;
    await cover(await addRun("watch"), "2024-05-01 03:59:00Z");
    await refresh();
    expect(await hours()).toHaveLength(3);
    await cover(await addRun("watch"), "2024-05-01 04:00:00Z");
    await refresh();
    expect((await hours()).at(-1)).toBe("2024-05-01 04:00:00+00");
  });

  test("leaves a row alone that is right already", async () => {
    await refresh();
    const rows = () => sql`select ctid::text, xmin::text, build_id from rollup.builds order by build_id`;
    const before = [...(await rows())];
    await refresh();
    expect([...(await rows())]).toEqual(before);
  });

  test("counts the rows of a table anew where nothing in it differs", async () => {
    await refresh();
    const counted = () => sql`select reltuples from pg_class where oid = 'rollup.days'::regclass`;
    await sql`update pg_class set reltuples = -1 where oid = 'rollup.days'::regclass`;
    await refresh({ stuckAfterMs: 7_300_000 });
    expect([...(await counted())]).toEqual([{ reltuples: 1 }]);
  });

  test("puts a row right that somebody moved to where nobody looks for it", async () => {
    await refresh();
    const streaks = () => sql`select project_id, failures from rollup.streaks`;
    await sql`update rollup.streaks set project_id = '999'`;
    await addBuilds(3, [false]);
    await refresh();
    expect([...(await streaks())]).toEqual([{ project_id: "1", failures: 2 }]);
  });

  test("computes everything anew under other settings, and keeps to the last ones where it is told to", async () => {
    expect(await refresh({ sourceTimezone: "America/Chicago" })).toMatchObject({ isFull: true });
    const at = () => sql`select triggered_at from report.fact_builds where build_id = '1'`;
    expect(await at()).toEqual([{ triggered_at: "2024-05-01 06:30:00+00" }]);
    expect(await refresh({ keepsSettings: true })).toMatchObject({ isFull: false });
    expect(await at()).toEqual([{ triggered_at: "2024-05-01 06:30:00+00" }]);
    await refresh();
  });

  test("keeps no reader waiting, and waits for another refresh", async () => {
    await refresh();
    await withTestSql(database.url, async (holder) => {
      await holdRefreshes(holder);
      await addBuilds(5, [false]);
      const refreshing = refresh();
      await expect.poll(() => countWaits(sql)).toBe(1);
      expect(await series()).toEqual([{ builds: 2, succeeded: 1, failed: 1 }]);
      await holder`rollback`;
      await refreshing;
    });
    expect(await series()).toEqual([{ builds: 3, succeeded: 1, failed: 2 }]);
    // A reader in the midst of a transaction, and a writer of the mirror, hold up no refresh either.
    await sql.begin(async (tx) => {
      await tx`select count(*) from report.fact_builds`;
      await tx`update mirror.builds set changed_at = now()`;
      expect(await refresh()).toMatchObject({ changed: 0 });
    });
  });

  test("a date beyond tomorrow counts as none, until its day is tomorrow", { tags: ["long"] }, async () => {
    await sql`
      insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
      values ('ahead', (now() at time zone 'UTC')::date + 2, 'finished', true, 'html', '1', '11', now(), now(), '\\x01')`;
    await refresh();
    const find = async () => {
      const [found] = await sql`
        select triggered_at is null as is_undated, is_dated_ahead,
          (select builds_dated_ahead from report.freshness where resource = 'build')
        from report.fact_builds where build_id = 'ahead'`;
      return found;
    };
    expect(await find()).toEqual({ is_undated: true, is_dated_ahead: true, builds_dated_ahead: 1 });
    expect(await refresh()).toMatchObject({ changed: 0, repaired: null });
    // As if a day went by.
    await sql`update mirror.builds set date = date - interval '1 day' where id = 'ahead'`;
    await sql`delete from sync.touched_records`;
    await sql`update rollup.builds set ahead_until = ahead_until - interval '1 day' where build_id = 'ahead'`;
    await sql`update rollup.state set next_dated_at = next_dated_at - interval '1 day'`;
    expect(await refresh()).toMatchObject({ changed: 1, repaired: null });
    expect(await find()).toEqual({ is_undated: false, is_dated_ahead: false, builds_dated_ahead: 0 });
  });

  test("a build, a project and a version say when they changed, and when a name in them did", async () => {
    await refresh();
    const find = async () => {
      const [found] = await sql<Record<string, string>[]>`
        select max(build.updated_at)::text as build, max(project.updated_at)::text as project,
          max(project.renamed_at)::text as renamed, max(version.updated_at)::text as version
        from report.fact_builds as build
        join report.dim_projects as project using (project_id) join report.dim_versions as version using (version_id)`;
      return found ?? {};
    };
    const first = await find();
    await sql`update mirror.projects set theme = 'other'`;
    await refresh();
    const themed = await find();
    expect(themed).toEqual({ ...first, project: expect.any(String) });
    expect(themed.project).not.toBe(first.project);
    await sql`update mirror.projects set slug = 'pip-renamed'`;
    await refresh();
    const renamed = await find();
    expect(renamed.build).toBe(renamed.renamed);
    expect(renamed.renamed).not.toBe(first.renamed);
    expect(renamed.version).toBe(first.version);
  });

  test("takes a day that nobody could count to for one day", async () => {
    await sql`insert into mirror.builds (id, date, state, type, first_seen_at, changed_at, record_hash)
      values ('odd', '0001-01-01', null, 'html', '2024-05-02', '2024-05-02', '\\x01'), ('odder', '9999-12-31 23:59:59', 'x', repeat('y', 3000), '2024-05-02', '2024-05-02', '\\x01')`;
    await refresh();
    const days = await sql<{ day: string; builds: number }[]>`
      select day, builds from report.success_rate_daily where day < '2000-01-01' or day > '2100-01-01' order by day`;
    expect([...days]).toEqual([{ day: "0001-01-01", builds: 1 }]);
    const [calendar] = await sql<{ days: number }[]>`select count(*) as days from report.dim_dates`;
    expect(calendar?.days).toBeLessThan(4000);
  });
});

describe("withReport", () => {
  const { signal } = new AbortController();
  const options = (databaseUrl: string) =>
    ({
      settings: REPORT_SETTINGS,
      connections: connectionsOf(databaseUrl),
      log: silentLog,
      signal,
    }) as unknown as RunOptions;
  const result = { summary: { status: "succeeded" }, error: null } as RunResult;

  test("refreshes after the run, also after one that failed", async () => {
    await addBuilds(8, [true]);
    const failed = { ...result, error: new Error("half of it") };
    const reported = await withReport(async () => failed)(options(database.url));
    expect(reported).toMatchObject({ error: failed.error, reportError: null });
    expect(await series()).toEqual([{ builds: 3, succeeded: 2, failed: 1 }]);
  });

  test("gives the run's result though the reports cannot be refreshed, and what a run throws", async () => {
    const gone = new URL(database.url);
    gone.pathname = "/docmirror_test_gone";
    const reported = await withReport(async () => result)(options(gone.href));
    expect(reported.summary).toBe(result.summary);
    expect(reported.reportError).toMatchObject({ name: "StoreError" });
    const thrown = new Error("locked");
    await expect(withReport(() => Promise.reject(thrown))(options(database.url))).rejects.toBe(thrown);
  });
});
