/** A refresh that fails: what it leaves, what the next one does, and what it does not say of the answers. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Logger, silentLog } from "../../../src/base/log.ts";
import { findFailedRefresh, RefreshError } from "../../../src/report/refresh/failed-refresh.ts";
import { type RefreshOptions, refreshReport, tryRefresh } from "../../../src/report/refresh/refresh.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { createTestDatabase, type TestDatabase, withTestSql } from "../../support/database.ts";
import { REPORT_SETTINGS } from "../../support/reported-mirror.ts";
import { insertOneVersion } from "../insert-rows.ts";

let database: TestDatabase;
let sql: Sql;

const refresh = (options: Partial<RefreshOptions> = {}, own = sql) =>
  refreshReport(own, { ...REPORT_SETTINGS, ...options });

const damage = () => sql`alter table rollup.days add constraint damaged check (builds < 0) not valid`;
const repair = () => sql`alter table rollup.days drop constraint damaged`;
const addBuild = (id: string) => sql`
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  values (${id}, '2024-05-01 10:00', 'finished', true, 'html', '1', '11', '2024-05-02', '2024-05-02', '\\x00')`;

const failed = {
  at: expect.any(String),
  error: expect.stringMatching(/^could not refresh the reports: .*damaged/),
};

/** Keeps what is logged: how loud, which sentence, which facts. */
function createKeptLog(): { log: Logger; lines: [string, string, Record<string, unknown>][] } {
  const lines: [string, string, Record<string, unknown>][] = [];
  const keep = (level: string) => (facts: Record<string, unknown>, message: string) =>
    void lines.push([level, message, facts]);
  const log = Object.assign(Object.create(silentLog), { warn: keep("warn"), error: keep("error") }) as Logger;
  return { log, lines };
}

beforeEach(async () => {
  database = await createTestDatabase({ max: 3 });
  sql = database.sql;
  await insertOneVersion(sql);
  await addBuild("1");
  await refresh();
});
afterEach(() => database?.dispose());

test("is noted with its reason until one goes well, which computes everything anew and says so", async () => {
  const { log, lines } = createKeptLog();
  await damage();
  await addBuild("2");
  await expect(refresh({ log })).rejects.toThrow(RefreshError);
  expect(await findFailedRefresh(sql)).toEqual(failed);
  // Nobody noted this, so a refresh of what was noted would not find it.
  await sql`update rollup.series set builds = 7`;
  await repair();
  expect(await refresh({ log })).toMatchObject({ isFull: true });
  expect(await findFailedRefresh(sql)).toBeNull();
  expect([...(await sql`select builds from rollup.series`)]).toEqual([{ builds: 2 }]);
  expect(lines).toEqual([
    [
      "warn",
      "the refresh before failed; everything was computed anew",
      { failed_at: failed.at, error: failed.error },
    ],
  ]);
  await addBuild("3");
  expect(await refresh({ log })).toMatchObject({ isFull: false });
});

test("is noted where the very first one fails, and stays where the next one fails too", async () => {
  await sql`delete from rollup.state`;
  await sql`delete from rollup.days`;
  await damage();
  await expect(refresh()).rejects.toThrow(/damaged/);
  await expect(refresh()).rejects.toThrow(/damaged/);
  expect(await findFailedRefresh(sql)).toEqual(failed);
});

test("has a hint for people, and the log says what the next one does", async () => {
  const { log, lines } = createKeptLog();
  await damage();
  await addBuild("2");
  const hint = expect.stringContaining("run it again, which computes everything anew");
  expect(await tryRefresh(database.sql, REPORT_SETTINGS, log)).toMatchObject({ hint, exitCode: 4 });
  expect(lines).toEqual([
    [
      "error",
      "could not refresh the reports",
      { error: failed.error, hint, next_refresh: "computes everything anew" },
    ],
  ]);
});

test("heals what was stored unseen: a project that nobody noted, and its version, which was", {
  tags: ["long"],
}, async () => {
  await sql.unsafe(`
    alter table mirror.projects disable trigger user;
    insert into mirror.projects (id, source, listed, first_seen_at, changed_at, record_hash) values ('2', 'list', true, now(), now(), '\\x00');
    alter table mirror.projects enable trigger user;
    insert into mirror.versions (id, project_id, first_seen_at, changed_at, record_hash) values ('22', '2', now(), now(), '\\x00')`);
  await expect(refresh()).rejects.toThrow(/dim_versions/);
  expect(await refresh()).toMatchObject({ isFull: true });
  expect([...(await sql`select project_id from report.dim_versions where version_id = '22'`)]).toEqual([
    { project_id: "2" },
  ]);
});

describe("what says nothing of the answers is not noted", () => {
  afterEach(async () => {
    expect(await findFailedRefresh(sql)).toBeNull();
    await addBuild("9");
    expect(await refresh()).toMatchObject({ isFull: false });
  });

  const refreshWith = (name: string, value: string) => {
    const url = new URL(database.url);
    url.searchParams.set(name, value);
    return withTestSql(url.href, (own) => refresh({}, own));
  };

  test("a lock that was not had, of the refreshes or of a table", async () => {
    await addBuild("2");
    for (const table of ["rollup.state", "rollup.days"])
      await sql.begin(async (tx) => {
        await tx`lock table ${tx(table)} in share mode`;
        await expect(refreshWith("lock_timeout", "1")).rejects.toThrow(/55P03/);
      });
  });

  test("a stop", { tags: ["long"] }, async () => {
    const stop = new AbortController();
    await sql.begin(async (tx) => {
      await tx`lock table sync.migrations in access exclusive mode`;
      const refreshing = refresh({ signal: stop.signal });
      refreshing.catch(() => {});
      await expect
        .poll(async () => [
          ...(await sql`select from pg_locks where not granted and relation = 'sync.migrations'::regclass`),
        ])
        .toHaveLength(1);
      stop.abort(new Error("stopped"));
      await expect(refreshing).rejects.toThrow("stopped");
    });
  });

  test("a connection that is lost", { tags: ["long"] }, async () => {
    await sql.begin(async (tx) => {
      await tx`lock table sync.migrations in access exclusive mode`;
      const refreshing = refresh();
      refreshing.catch(() => {});
      const end = () => sql`
        select pg_terminate_backend(pid) from pg_locks where not granted and relation = 'sync.migrations'::regclass`;
      await expect.poll(async () => [...(await end())]).toHaveLength(1);
      await expect(refreshing).rejects.toThrow();
    });
  });

  test("a statement that the server ended, and a session that takes no writes", {
    tags: ["long"],
  }, async () => {
    await addBuild("2");
    await sql.begin(async (tx) => {
      await tx`lock table rollup.days in share mode`;
      await expect(refreshWith("statement_timeout", "50")).rejects.toThrow(/57014/);
    });
    await expect(refreshWith("default_transaction_read_only", "on")).rejects.toThrow(/25006/);
  });
});
