import { describe, expect, test } from "vitest";
import { readDefinitions } from "../../../src/report/definitions.ts";
import {
  createNextRuns,
  createReadStatus,
  type StatusDocument,
} from "../../../src/report/status/read-status.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { muteProject } from "../../../src/store/ledger/muted-projects.ts";
import { STATUS } from "../../../tools/contract-page.ts";
import { createTestDatabase } from "../../support/database.ts";
import { EACH_AN_HOUR_AGO, seedLeader, seedWalks } from "../../support/health-mirror.ts";
import { NO_LIMIT } from "../../support/no-limit.ts";

const HOUR_MS = 3_600_000;
const SETTINGS = {
  stuckAfterMs: 2 * HOUR_MS,
  staleAfterMs: 30 * HOUR_MS,
  sourceTimezone: "Etc/UTC",
  ...NO_LIMIT,
  syncCron: "17 2 * * *",
  watchCron: "* * * * *",
  timezone: "Etc/UTC",
  backupCron: null,
  exportCron: null,
  pruneCron: null,
};
const NOW = new Date("2026-11-03T12:00:30Z");
const DEFINITIONS = readDefinitions();
const read = createReadStatus(SETTINGS, DEFINITIONS);

const it = test.extend<{ sql: Sql }>({
  async sql({ task: _ }, use) {
    await using database = await createTestDatabase();
    await use(database.sql);
  },
});

async function readDocument(sql: Sql): Promise<StatusDocument> {
  const status = await read(sql, NOW);
  if ("fault" in status) throw new Error(status.fault);
  return status;
}

function fieldsOf(value: unknown): unknown {
  if (Array.isArray(value)) return fieldsOf(value[0]);
  if (value === null || typeof value !== "object") return typeof value === "object" ? null : "value";
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fieldsOf(inner)]));
}

describe("the status document", () => {
  it("has the fields that the contract names, in its order", async ({ sql }) => {
    await sql`
      insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host, database_bytes)
      select 'full', 'succeeded', now(), now() - days * interval '1 day', now(), 1, 'test', 1 from unnest(array[9, 1]) as days`;
    await seedWalks(sql, EACH_AN_HOUR_AGO, NOW);
    await seedLeader(sql);
    await sql`
      insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
      values ('watch', 'succeeded', now(), now(), now(), 1, 'test')`;
    await sql`
      insert into mirror.builds (id, date, state, first_seen_at, changed_at, record_hash)
      values ('1', '2026-11-03 09:00:00', 'building', now(), now(), '')`;
    await sql`insert into sync.open_builds (build_id, since, seen_at, run_id) values ('1', now(), now(), 1)`;
    await sql`
      insert into sync.missing_records (resource, record_id, run_id, noticed_at, asked_at, undecided_runs, held_until)
      values ('build', '1', 1, now(), now(), 3, null), ('file', '2', 1, now(), null, 0, now())`;
    await sql`
      update sync.walks set round_records = 0, round_reason = '', search_requests = 0, search_is_done = true where resource = 'build'`;
    await sql`
      insert into sync.rounds (resource, began_run_id, started_at, records, checkpoint, total_count)
      values ('build', 1, now(), 0, '{}', 0)`;
    await sql`insert into sync.jobs (job, good_at, what, bytes) values ('backup', now(), '/backups/a.backup', 1)`;
    await sql`
      insert into sync.checks (lists, suspects) values (
        '{"build": {"checked": 1, "equal": 0}}', '[{"resource": "build", "id": "1", "verdict": "wrong", "fields": ["type"]}]')`;
    await sql`insert into rollup.failed_refresh (failed_at, error) values (now(), 'damaged')`;
    await muteProject(sql, "pip", HOUR_MS);
    await sql`insert into sync.service (base_url, resources, noted_at) values ('https://docs.example.org', '{}', now())`;
    const status = await readDocument(sql);
    expect(Object.keys(status)).toEqual(Object.keys(STATUS));
    expect(fieldsOf({ ...status, clock_faults: [] })).toEqual(fieldsOf({ ...STATUS, clock_faults: [] }));
  });

  it("calls each list stale by its own age, one that was never read too, and the mirror when any is", async ({
    sql,
  }) => {
    const { file: _neverRead, ...others } = { ...EACH_AN_HOUR_AGO, user: 30, project: 30.001, build: 2 };
    await seedWalks(sql, others, NOW);
    const { stale, last_good_at, age_ms, oldest_list, resources } = await readDocument(sql);
    expect(resources.map(({ resource }) => resource)).toEqual(RESOURCES);
    const shown = resources.map(({ resource, age_ms: age, stale: isStale }) => [resource, [age, isStale]]);
    expect(Object.fromEntries(shown)).toMatchObject({
      user: [30 * HOUR_MS, false],
      project: [30 * HOUR_MS + 3600, true],
      version: [HOUR_MS, false],
      file: [null, true],
      build: [2 * HOUR_MS, false],
    });
    expect({ stale, last_good_at, age_ms }).toEqual({ stale: true, last_good_at: null, age_ms: null });
    expect(oldest_list.resource).toBe("file");
    await seedWalks(sql, { project: 3, file: 1.5 }, NOW);
    expect(await readDocument(sql)).toMatchObject({
      stale: false,
      last_good_at: "2026-11-02T06:00:30Z",
      age_ms: 30 * HOUR_MS,
      oldest_list: { resource: "user" },
    });
  });

  it("says who leads, and what is due next only while somebody does", async ({ sql }) => {
    expect(await readDocument(sql)).toMatchObject({ leader: null, next_runs: null });
    await seedLeader(sql);
    expect(await readDocument(sql)).toMatchObject({
      leader: { instance: "abc123", pid: 4711, host: "host-a", term: 3, since: "2026-11-03T12:00:00.5Z" },
      next_runs: [
        { job: "sync", due_at: "2026-11-04T02:17:00.000Z" },
        { job: "watch", due_at: "2026-11-03T12:01:00.000Z" },
      ],
    });
    await sql`update sync.leases set until = clock_timestamp() - interval '1 second'`;
    expect(await readDocument(sql)).toMatchObject({ leader: null, next_runs: null });
  });

  it("lists the newest 20 runs, and rounds of the watch apart from them", async ({ sql }) => {
    await sql`
      insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host, error)
      select case when n % 2 = 0 then 'full' else 'watch' end, 'failed', now(), now(), now(), 1, 'test', 'run ' || n
      from generate_series(1, 61) as n`;
    const { runs, last_watch_round } = await readDocument(sql);
    const newest = Array.from({ length: 20 }, (_, index) => 60 - 2 * index);
    expect(runs.map(({ run_id }) => run_id)).toEqual(newest);
    expect(last_watch_round).toMatchObject({ run_id: 61, kind: "watch", error: "run 61" });
    expect(runs[0]?.started_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it("takes the number of builds that the loader keeps, and counts where it keeps none", async ({ sql }) => {
    const rows = async () => (await readDocument(sql)).resources.find(({ resource }) => resource === "build");
    await sql`
      insert into mirror.builds (id, first_seen_at, changed_at, deleted_at, record_hash)
      select n::text, now(), now(), case when n > 3 then now() end, '' from generate_series(1, 5) as n`;
    expect(await rows()).toMatchObject({ resource: "build", rows: 3 });
    await sql`insert into sync.lists (resource, live) values ('build', 7)`;
    expect(await rows()).toMatchObject({ resource: "build", rows: 7 });
  });

  it.for([
    [
      "older",
      "update sync.definitions set hash = '', version = '0.0.0' where name = 'report.freshness'",
      { state: "older", missing: 0, outdated: 1 },
      /it lacks the new definition of report\.freshness\. Run `docmirror migrate`\.$/,
    ],
    [
      "newer",
      "insert into sync.migrations (tag, hash) values ('0999_of_tomorrow', 'x')",
      { state: "newer", missing: 0, unknown: 1 },
      /is newer than this program\. Upgrade docmirror to the version that made it\.$/,
    ],
    [
      "newer and says whose it is",
      "update sync.definitions set hash = '', version = '99.10.0-beta.1' where name = 'report.freshness'; alter view report.freshness rename column resource to x",
      { state: "newer", unknown: 0, outdated: 1 },
      /Upgrade docmirror to the version that made it, 99\.10\.0-beta\.1\.$/,
    ],
  ] as const)("of a schema that is %s is a reason", async ([_name, change, schema, reason], { sql }) => {
    await sql.unsafe(change);
    const fault = expect.stringMatching(reason);
    const { version } = DEFINITIONS;
    expect(await read(sql, NOW)).toEqual({ fault, schema: expect.objectContaining(schema), version });
  });

  test("of a database without a mirror is a reason", async () => {
    await using database = await createTestDatabase({ migrated: false });
    expect(await read(database.sql, NOW)).toMatchObject({
      fault: "There is no mirror in the database yet; `docmirror sync` makes one.",
      schema: { state: "none", unknown: 0 },
    });
  });
});

test("the next runs name each job with its line, its zone and the next moment", () => {
  const timezone = "Europe/Berlin";
  const findNextRuns = createNextRuns({
    syncCron: "17 2 * * *",
    watchCron: "*/5 * * * *",
    backupCron: "47 3 * * *",
    exportCron: null,
    pruneCron: null,
    timezone,
  });
  expect(findNextRuns(new Date("2026-03-28T12:01:00Z"))).toEqual([
    // The clocks jump over 02:17.
    { job: "sync", cron: "17 2 * * *", timezone, due_at: "2026-03-29T01:17:00.000Z" },
    { job: "watch", cron: "*/5 * * * *", timezone, due_at: "2026-03-28T12:05:00.000Z" },
    { job: "backup", cron: "47 3 * * *", timezone, due_at: "2026-03-29T01:47:00.000Z" },
  ]);
});

test("a line that never comes round has no moment", () => {
  const findNextRuns = createNextRuns({ ...SETTINGS, syncCron: "0 0 31W 2 *" });
  expect(findNextRuns(new Date("2026-01-01T00:00:00Z"))[0]?.due_at).toBeNull();
});

test("the next runs follow the clock, also when it is set back", () => {
  const findNextRuns = createNextRuns({ ...SETTINGS, syncCron: "0 * * * *" });
  const at = (now: string) => findNextRuns(new Date(now)).map(({ due_at }) => due_at?.slice(11, 16));
  expect(at("2026-03-01T12:00:30Z")).toEqual(["13:00", "12:01"]);
  expect(at("2026-03-01T12:59:59Z")).toEqual(["13:00", "13:00"]);
  expect(at("2026-03-01T13:00:00Z")).toEqual(["14:00", "13:01"]);
  expect(at("2026-03-01T11:30:00Z")).toEqual(["12:00", "11:31"]);
});
