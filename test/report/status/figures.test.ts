import { describe, expect, test } from "vitest";
import { StoreError } from "../../../src/base/errors.ts";
import { OUTCOMES, RUN_KINDS } from "../../../src/base/metrics/labels.ts";
import { withSnapshot } from "../../../src/report/read-answer.ts";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { FIGURE_METRICS, findFigures } from "../../../src/report/status/figures.ts";
import { createFigureRegistry, createReadFigures } from "../../../src/report/status/read-figures.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { withSql } from "../../../src/store/connection/connect.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { samplesOf, seriesOf } from "../../support/alert-firings.ts";
import { createTestDatabase, withTestSql } from "../../support/database.ts";
import { HELD } from "../../support/leases.ts";
import { NO_LIMIT } from "../../support/no-limit.ts";
import { createKeptLog } from "../../support/quick-world.ts";
import { createReader } from "../../support/roles.ts";

const OPTIONS = { stuckAfterMs: 7_200_000, sourceTimezone: "Etc/UTC", isWorker: true, ...NO_LIMIT };
async function scrape(sql: Sql, isWorker = true) {
  const figures = await withSnapshot(sql, (tx) => findFigures(tx, { ...OPTIONS, isWorker }));
  const text = await createFigureRegistry(true, figures).metrics();
  return {
    names: [...new Set([...samplesOf(text).keys()].map((series) => series.replace(/\{.*/, "")))].toSorted(),
    of: (name: string) => seriesOf(text, `docmirror_${name}`),
  };
}

const by = (label: string, values: Record<string, number>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${label}="${name}"`, value]));
const all = (names: readonly string[], value: number) =>
  Object.fromEntries(names.map((name) => [name, value]));

/** Each test has a mirror of its own, which is asked by a process called abc. */
const it = test.extend<{ url: string; sql: Sql }>({
  async url({ task: _ }, use) {
    await using database = await createTestDatabase();
    await use(database.url);
  },
  sql: ({ url }, use) => withSql(url, { applicationName: "docmirror test #abc", max: 2 }, use),
});

/** Scrapes of a database that fails with these errors, one after another. */
function readFrom(...errors: Error[]) {
  const { log, messages } = createKeptLog();
  const read = () => Promise.reject(errors.shift() ?? new Error("no more"));
  const readFigures = createReadFigures(read, OPTIONS, log);
  return { samples: async () => [...samplesOf(await (await readFigures()).metrics())], messages };
}

/** A run with the number of its place among those that were added. */
function addRun(sql: Sql, kind: string, status: string, beat = "now()"): Promise<unknown> {
  const finished = status === "running" ? "null" : "now()";
  return sql.unsafe(
    `insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host, requests)
     values ($1, $2, now() - interval '90 seconds', ${finished}, ${beat}, 1, 'h', 7)`,
    [kind, status],
  );
}

describe("the figures of a mirror", () => {
  it("say how many records checks compared in 30 days, and what the newest one found wrong", async ({
    sql,
  }) => {
    await sql`
      insert into sync.checks (checked_at, lists, suspects) values
        (now() - interval '1 day', '{"user": {"checked": 5, "equal": 4, "wrong": 1}}', '[]'),
        (now(), '{"user": {"checked": 6, "equal": 6, "wrong": 0}}', '[]')`;
    const { of } = await scrape(sql);
    expect([of("checked_records"), of("wrong_records")]).toEqual([
      by("resource", { user: 11 }),
      by("resource", { user: 0 }),
    ]);
  });

  it("are few in an empty one, and claim nothing: what is not known is absent, not 0", async ({ sql }) => {
    const { names, of } = await scrape(sql, false);
    expect(names).toEqual(
      [
        ...["builds_open", "builds_stuck", "database_bytes", "database_up", "deletions_held_back"],
        ...["list_deficit_records", "logs_bytes", "missing_records", "notices_given_up", "notices_waiting"],
        ...[
          "quarantined_records",
          "run_in_progress",
          "runs_failed_in_a_row",
          "schema_bytes",
          "schema_changes_total",
        ],
      ].map((name) => `docmirror_${name}`),
    );
    for (const name of ["list_deficit_records", "missing_records", "deletions_held_back"])
      expect(of(name)).toEqual(by("resource", all(RESOURCES, 0)));
    expect(of("quarantined_records")).toEqual(by("resource", all(RESOURCES, 0)));
    expect(of("schema_changes_total")).toEqual(by("resource", all([...RESOURCES, "other"], 0)));
    expect(of("run_in_progress")).toEqual(by("kind", all(RUN_KINDS, 0)));
    expect(of("runs_failed_in_a_row")).toEqual(by("command", { sync: 0, watch: 0 }));
    expect([of("notices_waiting"), of("notices_given_up")]).toEqual([{ "": 0 }, { "": 0 }]);
  });

  it("say that builds stopped arriving, while the mirror looks", { tags: ["long"] }, async ({ sql }) => {
    const look = (id: number, ago: string) =>
      sql.unsafe(`
        delete from rollup.state; delete from sync.walks;
        insert into sync.runs (id, kind, status, started_at, heartbeat_at, pid, host) overriding system value
        values (${id}, 'watch', 'succeeded', now(), now(), 1, 'test');
        insert into sync.walks (run_id, resource, walk, started_at, finished_at)
        values (${id}, 'build', 'whole', now() - interval '${ago}', now())`);
    await sql.unsafe(`
      insert into mirror.builds (id, date, state, success, first_seen_at, changed_at, record_hash)
      select place::text, (now() at time zone 'UTC') - interval '5 hours' - place * interval '10 minutes', 'finished', true,
        now() - interval '5 hours' - place * interval '10 minutes', now(), ''
      from generate_series(0, 35 * 144) as place`);
    const scrapeFresh = async () => {
      await refreshReport(sql, OPTIONS);
      return scrape(sql);
    };
    await look(1, "1 minute");
    const { of } = await scrapeFresh();
    expect(of("builds_quiet")).toEqual({ "": 1 });
    const age = Date.now() / 1000 - (of("last_build_timestamp_seconds")[""] ?? 0);
    expect(age).toBeGreaterThanOrEqual(5 * 3600);
    expect(age).toBeLessThan(6 * 3600);
    await look(2, "6 minutes");
    expect((await scrapeFresh()).of("builds_quiet")).toEqual({});
    await sql`update mirror.builds set date = now() at time zone 'UTC' - interval '2 minutes', record_hash = 'x', first_seen_at = now() where id = '0'`;
    await look(3, "1 minute");
    expect((await scrapeFresh()).of("builds_quiet")).toEqual({ "": 0 });
  });

  it("have the last run of each kind by its number, and whether one is alive", async ({ sql }) => {
    await addRun(sql, "full", "succeeded");
    await addRun(sql, "incremental", "partial");
    await addRun(sql, "full", "failed");
    await addRun(sql, "watch", "running", "now() - interval '2 minutes'");
    await addRun(sql, "incremental", "running");
    await sql`
      insert into sync.walks (run_id, resource, walk, started_at, finished_at, inserted, updated)
      values (3, 'build', 'whole', now(), now(), 5, 1), (3, 'file', 'whole', now(), now(), 2, 0)`;
    await sql.unsafe(HELD("run", 2));
    await sql`update sync.runs set term = case kind when 'watch' then 1 else 2 end`;
    const { of } = await scrape(sql);
    // The process of the round has died: the lease is that of a later one.
    expect(of("run_in_progress")).toEqual(
      by("kind", { full: 0, incremental: 1, watch: 0, quarantine: 0, repair: 0 }),
    );
    expect(Object.keys(of("last_success_timestamp_seconds"))).toEqual(['kind="full"']);
    for (const name of ["last_success_timestamp_seconds", "last_run_timestamp_seconds"])
      expect(Date.now() / 1000 - (of(name)['kind="full"'] ?? 0)).toBeLessThan(600);
    expect(of("last_run_duration_seconds")).toEqual(by("kind", { full: 90, incremental: 90 }));
    expect(of("last_run_requests")).toEqual(by("kind", { full: 7, incremental: 7 }));
    expect(of("last_run_status")).toEqual({
      ...by('kind="full",status', { succeeded: 0, partial: 0, failed: 1, interrupted: 0 }),
      ...by('kind="incremental",status', { succeeded: 0, partial: 1, failed: 0, interrupted: 0 }),
    });
    expect(of("last_run_records")).toEqual({
      ...by('kind="full",outcome', { ...all(OUTCOMES, 0), inserted: 7, updated: 1 }),
      ...by('kind="incremental",outcome', all(OUTCOMES, 0)),
    });
  });

  it("say since when the reports lack a run, until they are refreshed", async ({ sql }) => {
    const behind = async () => (await scrape(sql)).of("reports_behind_timestamp_seconds");
    await addRun(sql, "full", "succeeded");
    await addRun(sql, "watch", "succeeded");
    await addRun(sql, "watch", "running");
    const [first] = await sql<
      { at: number }[]
    >`select extract(epoch from finished_at)::float8 as at from sync.runs where id = 1`;
    expect((await behind())[""]).toBeCloseTo(first?.at ?? 0, 2);
    await refreshReport(sql, OPTIONS);
    expect(await behind()).toEqual({});
  });

  it("say when the refresh of the reports failed, until one goes well", async ({ sql }) => {
    const failed = async () => (await scrape(sql)).of("reports_failed_timestamp_seconds");
    expect(await failed()).toEqual({});
    await sql`insert into rollup.failed_refresh (failed_at, error) values ('2026-11-03 09:00Z', 'damaged')`;
    expect(await failed()).toEqual({ "": Date.parse("2026-11-03T09:00Z") / 1000 });
    await refreshReport(sql, OPTIONS);
    expect(await failed()).toEqual({});
  });

  it("count the failures since the last run that read a part, of syncs and of rounds", async ({ sql }) => {
    const failures = async () => (await scrape(sql)).of("runs_failed_in_a_row");
    for (const status of ["failed", "succeeded", "failed", "interrupted", "failed"])
      await addRun(sql, "full", status);
    await addRun(sql, "watch", "failed");
    await addRun(sql, "quarantine", "succeeded");
    expect(await failures()).toEqual(by("command", { sync: 2, watch: 1 }));
    await addRun(sql, "incremental", "partial");
    expect(await failures()).toEqual(by("command", { sync: 0, watch: 1 }));
  });

  it.for([
    ["this process leads", "abc", "1 minute", 1, 1],
    ["another one leads", "xyz", "1 minute", 1, 0],
    ["another one leads whose name ends alike", "bc", "1 minute", 1, 0],
    ["the leader is frozen", "abc", "-1 minute", 0, 0],
    ["the leader gave the lead up", "abc", "-infinity", 0, 0],
  ] as const)("show when %s", async ([_case, instance, left, hasLeader, isLeader], { sql }) => {
    await sql`
      insert into sync.leases (name, term, instance, pid, host, since, renewed_at, until)
      values ('lead', 1, ${instance}, 1, 'h', now(), now(),
        case ${left} when '-infinity' then '-infinity' else clock_timestamp() + nullif(${left}, '-infinity')::interval end)`;
    const worker = await scrape(sql);
    expect([worker.of("has_leader"), worker.of("is_leader")]).toEqual([{ "": hasLeader }, { "": isLeader }]);
    const other = await scrape(sql, false);
    expect([other.of("has_leader"), other.of("is_leader")]).toEqual([{ "": hasLeader }, {}]);
  });

  it("count notices that wait, and those that were given up", async ({ sql }) => {
    await sql`
      insert into sync.notices (subject, type, data, noted_at, delivered_at, given_up_at) values
        ('a', 'run.ended', '{}', now() - interval '1 hour', null, null), ('b', 'run.ended', '{}', now(), null, null),
        ('c', 'run.ended', '{}', now() - interval '3 days', now(), null),
        ('d', 'run.ended', '{}', now() - interval '2 days', null, now())`;
    const { of } = await scrape(sql);
    expect([of("notices_waiting"), of("notices_given_up")]).toEqual([{ "": 2 }, { "": 1 }]);
    const oldestAt = of("notices_oldest_waiting_timestamp_seconds")[""] ?? 0;
    expect(Date.now() / 1000 - oldestAt).toBeCloseTo(3600, -2);
  });

  it("count schema changes, deletions that are held back and quarantine by resource, whatever upstream names", async ({
    sql,
  }) => {
    await addRun(sql, "full", "partial");
    await sql`
      insert into sync.drift (run_id, resource, field, kind, detail, observed_at) values
        (1, 'build', 'a', 'appeared', '', now()), (1, ${'x"} 1\nevil 1'}, '', 'appeared', '', now())`;
    await sql`
      insert into sync.walks (run_id, resource, walk, reason, started_at, finished_at, total_count, deficit, unstored)
      values (1, 'project', 'whole', null, now(), now(), 40, null, null),
        (1, 'build', 'head', null, now(), now(), 900, 12, 2)`;
    await sql`
      insert into sync.missing_records (resource, record_id, run_id, noticed_at, held_until)
      values ('project', '1', 1, now(), 'infinity'), ('build', '1', 1, now(), null)`;
    await sql`
      insert into sync.quarantine (run_id, resource, record_id, reason, created_at, resolved_at)
      values (1, 'file', '1', 'x', now(), null), (1, 'file', '2', 'x', now(), now())`;
    const { of } = await scrape(sql);
    expect(of("schema_changes_total")).toEqual(by("resource", { ...all(RESOURCES, 0), build: 1, other: 1 }));
    expect(of("upstream_records")).toEqual(by("resource", { project: 40, build: 900 }));
    expect(of("list_deficit_records")).toMatchObject(by("resource", { project: 0, build: 10 }));
    expect(of("deletions_held_back")).toEqual(by("resource", { ...all(RESOURCES, 0), project: 1 }));
    expect(of("quarantined_records")).toEqual(by("resource", { ...all(RESOURCES, 0), file: 1 }));
  });

  it("add up foreign states of builds as other", async ({ sql }) => {
    await sql`
      insert into mirror.builds (id, date, state, success, first_seen_at, changed_at, record_hash)
      select place::text, now() at time zone 'UTC' - since, state, false, now() - since, now(), ''
      from unnest(array['triggered', 'triggered', ${'evil"} 1\ndocmirror_leader 1 #'}, 'another', 'finished'],
        array['1 hour', '3 hours', '3 hours', '1 hour', '3 hours']::interval[]) with ordinality as of (state, since, place)`;
    await sql`
      insert into sync.open_builds (build_id, since, seen_at, run_id)
      select id, first_seen_at, now(), 1 from mirror.builds where state <> 'finished'`;
    const { of } = await scrape(sql);
    expect(of("builds_open")).toEqual(
      by("state", { triggered: 2, cloning: 0, installing: 0, building: 0, uploading: 0, other: 2 }),
    );
    expect(of("builds_stuck")).toEqual({ "": 2 });
  });

  it("say when certificates end, that of the service by the newest run that saw one", async ({ sql }) => {
    expect((await scrape(sql)).of("certificate_ends_timestamp_seconds")).toEqual({});
    const [old, renewed] = ["2026-12-01T00:00:00Z", "2027-03-01T00:00:00Z"];
    for (const at of [old, renewed, null]) {
      await addRun(sql, "watch", "failed");
      await sql`update sync.runs set certificate_ends_at = ${at} where id = (select max(id) from sync.runs)`;
    }
    const databaseCertificateEnd = new Date("2026-12-24T00:00:00Z");
    const figures = await withSnapshot(sql, (tx) => findFigures(tx, { ...OPTIONS, databaseCertificateEnd }));
    const text = await createFigureRegistry(true, figures).metrics();
    expect(seriesOf(text, "docmirror_certificate_ends_timestamp_seconds")).toEqual(
      by("of", { service: Date.parse(renewed) / 1000, database: databaseCertificateEnd.getTime() / 1000 }),
    );
  });

  it("say how large the database is, and its schemas, and how many days its growth leaves", async ({
    sql,
  }) => {
    const { of } = await scrape(sql);
    expect(of("database_bytes")[""]).toBeGreaterThan(of("logs_bytes")[""] ?? 0);
    expect(Object.keys(of("schema_bytes")).toSorted()).toEqual(
      ["mirror", "report", "rollup", "sync"].map((schema) => `schema="${schema}"`),
    );
    expect(of("database_days_left")).toEqual({});
  });

  it("say when backups and exports were good last, and how often they failed since", async ({ sql }) => {
    expect((await scrape(sql)).of("job_failures_in_a_row")).toEqual({});
    await sql`insert into sync.jobs (job, good_at, failures) values ('backup', '2026-11-28T02:17Z', 0), ('export', null, 3)`;
    const { of } = await scrape(sql);
    const at = Date.parse("2026-11-28T02:17Z") / 1000;
    expect(of("job_last_good_timestamp_seconds")).toEqual(by("command", { backup: at }));
    expect(of("job_failures_in_a_row")).toEqual(by("command", { backup: 0, export: 3 }));
  });

  it("can be read by the role that `grant-reader --interface` makes", async ({ url, sql }) => {
    await using role = await createReader({ url, sql }, { withInterface: true });
    await sql`insert into sync.jobs (job) values ('backup')`;
    const figures = await withTestSql(role.url, (reader) =>
      withSnapshot(reader, (tx) => findFigures(tx, OPTIONS)),
    );
    const named = new Set(figures.flatMap((row) => Object.keys(row)));
    // Each query has the columns of its metrics.
    expect([...named]).toEqual(expect.arrayContaining(FIGURE_METRICS.map(({ name }) => name)));
  });

  it("are absent while the database is away, which is logged once", async () => {
    const down = new StoreError("no connection", { sqlstate: "08006" });
    const { samples, messages } = readFrom(down, down, new StoreError("too slow"));
    for (let times = 0; times < 3; times++) expect(await samples()).toEqual([["docmirror_database_up", 0]]);
    expect(messages()).toEqual(Array(2).fill("could not read the figures for the metrics"));
  });

  it("are absent where the role may not read them, although the database is there", async () => {
    const refused = new StoreError("permission denied for table notices", { sqlstate: "42501" });
    const { samples } = readFrom(refused);
    expect(await samples()).toEqual([["docmirror_database_up", 1]]);
  });
});
