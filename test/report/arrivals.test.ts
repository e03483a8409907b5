/** Whether builds arrive as usual: rows by hand, and the same from the model. */
import { beforeAll, describe, expect, it } from "vitest";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { REPORT_SETTINGS } from "../support/reported-mirror.ts";
import { useDatabase } from "../support/use-database.ts";
import { compareRows, readRelation } from "./compare.ts";
import { readRaw } from "./model/raw.ts";
import { computeReport } from "./model.ts";

const database = useDatabase();
const { sql } = database;

/**
 * A service that builds at 5 and 35 past each hour, and at 5, 15, 25 … past from 08:00 to 17:59; from 1 March 2025, a
 * Saturday, on. On 15 April it builds at 5 and 35 past all day.
 */
const SERVICE = `
  insert into mirror.builds (id, date, state, success, type, first_seen_at, changed_at, record_hash)
  select to_char(at, 'YYYYMMDDHH24MI'), at, 'finished', true, 'html', at at time zone 'UTC' + interval '1 minute', '2025-03-01Z', ''
  from generate_series(timestamp '2025-03-01 00:05', timestamp '2025-04-30 23:55', '10 minutes') as at
  where extract(minute from at) in (5, 35) or extract(hour from at) between 8 and 17 and at::date <> '2025-04-15'`;

beforeAll(async () => {
  await sql.unsafe(SERVICE);
  await sql.unsafe("create table public.all_builds as select * from mirror.builds");
});

/** Builds from the one moment until before the other, when the mirror looked, and what changes this world. */
type World = { from?: string; until: string; looked: string; also?: string };

/** The row of such a world, which the model has too. */
async function judge({ from = "2025-03-24", until, looked, also }: World) {
  await sql.unsafe(
    "delete from rollup.state; truncate mirror.builds cascade; truncate sync.walks; delete from sync.runs",
  );
  await sql`
    insert into mirror.builds (id, date, state, success, type, first_seen_at, changed_at, record_hash)
    select id, date, state, success, type, first_seen_at, changed_at, record_hash from public.all_builds
    where date >= ${from}::timestamp and date < ${until}::timestamp`;
  await look(1, looked);
  if (also !== undefined) await sql.unsafe(also);
  await refreshReport(database.sql, REPORT_SETTINGS);
  const [row] = await readRelation(sql, "arrivals");
  const [{ today }] = await sql<[{ today: string }]>`select (now() at time zone 'UTC')::date as today`;
  const fingerprintOf = () => null;
  const model = computeReport(await readRaw(sql), { ...REPORT_SETTINGS, rules: [], fingerprintOf, today });
  for (const relation of ["arrivals", "arrivals_hourly"] as const)
    expect(compareRows(relation, await readRelation(sql, relation), model[relation])).toEqual([]);
  return row;
}

async function look(run: number, at: string) {
  await sql`
    insert into sync.runs (id, kind, status, started_at, heartbeat_at, pid, host) overriding system value
    values (${run}, 'full', 'succeeded', ${`${at}Z`}, ${`${at}Z`}, 1, 'test')`;
  await sql`
    insert into sync.walks (run_id, resource, walk, started_at, finished_at)
    values (${run}, 'build', 'whole', ${`${at}Z`}, ${`${at}Z`}::timestamptz + interval '1 second')`;
}

describe("builds that arrive", () => {
  it("are usual where no gap was longer, and the hour has what it had on such days", async () => {
    // Tuesday. The last hour ends at 10:20: builds at 5 and 15 past.
    const row = await judge({ until: "2025-04-22 10:20", looked: "2025-04-22 10:20" });
    expect(row).toMatchObject({ state: "usual", reason: null, gap_s: 300, longest_gap_s: 1800 });
    // 14 hours of two and 10 of six. In the 24 hours from 15 April 10:20 on 31 did not come.
    expect(row).toMatchObject({ builds_24h: 88, usual_24h: 88, fewest_24h: 57, days_known: 28 });
    const hours = await sql`
      select extract(hour from hour)::int as hour, builds, usual_low, usual_high from report.arrivals_hourly order by report.arrivals_hourly.hour desc limit 4`;
    expect(hours.map((hour) => Object.values(hour))).toEqual([
      [10, 2, 2, 2],
      [9, 6, 6, 6],
      [8, 6, 6, 6],
      [7, 2, 2, 2],
    ]);
  });

  it("are quiet after twice the longest gap, late before, where ten or more were usual", {
    tags: ["long"],
  }, async () => {
    // From 09:55 on six came in each hour: nine to 11:25, ten to 11:35.
    const since = { until: "2025-04-22 09:56" };
    expect(await judge({ ...since, looked: "2025-04-22 11:25" })).toMatchObject({
      state: "usual",
      usual_since: 9,
      gap_s: 5400,
      last_build_id: "202504220955",
    });
    expect(await judge({ ...since, looked: "2025-04-22 11:35" })).toMatchObject({
      state: "quiet",
      usual_since: 10,
      fewest_since: 4,
      most_since: 10,
      state_now: "unknown",
    });
    const gap = "delete from mirror.builds where date > '2025-04-15 03:05' and date < '2025-04-15 04:05'";
    expect(await judge({ ...since, looked: "2025-04-22 11:45", also: gap })).toMatchObject({
      state: "late",
      longest_gap_s: 3600,
      gap_s: 6600,
    });
    expect(await judge({ ...since, looked: "2025-04-22 11:55:01", also: gap })).toMatchObject({
      state: "quiet",
    });
  });

  it("are compared with the same weekday: nights and weekends without builds are no outage", {
    tags: ["long"],
  }, async () => {
    const office =
      "delete from mirror.builds where extract(isodow from date) > 5 or extract(hour from date) not between 8 and 17";
    const world = { until: "2025-04-25 18:00", also: office };
    // Friday 17:55 to Monday 08:05, on four weekends.
    expect(await judge({ ...world, looked: "2025-04-27 12:00" })).toMatchObject({
      state: "usual",
      longest_gap_s: (2 * 24 + 14) * 3600 + 600,
      fewest_since: 0,
    });
  });

  it("are few where fewer came in a day than on any other", { tags: ["long"] }, async () => {
    const few =
      "delete from mirror.builds where date > '2025-04-21 10:20' and extract(minute from date) not in (5, 35)";
    expect(await judge({ until: "2025-04-22 10:20", looked: "2025-04-22 10:20", also: few })).toMatchObject({
      state: "few",
      builds_24h: 48,
      usual_24h: 88,
      fewest_24h: 57,
    });
  });

  it("are expected no more after 28 days without one", { tags: ["long"] }, async () => {
    const [from, until] = ["2025-03-01", "2025-03-31 00:00"];
    expect(await judge({ from, until, looked: "2025-04-27 23:35" })).toMatchObject({
      state: "quiet",
      usual_since: 88,
    });
    expect(await judge({ from, until, looked: "2025-04-27 23:36" })).toMatchObject({
      state: "dormant",
      reason: null,
    });
    expect(await judge({ from: "2025-03-30", until, looked: "2025-05-30 00:00" })).toMatchObject({
      state: "dormant",
    });
  });
});

describe("what cannot be known", { tags: ["long"] }, () => {
  it("is a mirror that never read the builds, or has none, or less than two weeks of them", async () => {
    const unread = "update sync.walks set walk = 'not_whole'";
    const world = { until: "2025-04-22 10:20", looked: "2025-04-22 12:20" };
    expect(await judge({ ...world, also: unread })).toMatchObject({
      state: "unknown",
      reason: "not_read",
      looked_at: null,
    });
    expect(await judge({ ...world, until: "2025-01-01" })).toMatchObject({
      state: "unknown",
      reason: "no_builds",
      last_build_at: null,
    });
    expect(await judge({ ...world, from: "2025-04-08 12:00" })).toMatchObject({
      state: "unknown",
      reason: "too_few_days",
      days_known: 13,
    });
    expect(await judge({ ...world, from: "2025-04-08 10:00" })).toMatchObject({
      reason: null,
      days_known: 14,
    });
  });

  it("is the usual of a mirror of some hours, not what came in them", async () => {
    const world = { from: "2025-04-22 05:00", until: "2025-04-22 10:20", looked: "2025-04-22 10:20" };
    expect(await judge(world)).toMatchObject({
      state: "unknown",
      reason: "too_few_days",
      days_known: 0,
      builds_24h: 20,
      usual_24h: null,
      usual_since: null,
    });
  });

  it("is a mirror whose clock, or zone, does not fit the dates", async () => {
    // Read two hours too early: the mirror looked after the date of its last build and did not see it.
    const late =
      "update mirror.builds set first_seen_at = date at time zone 'UTC' + interval '2 hours' where id = '202504221015'";
    const world = { until: "2025-04-22 10:20", looked: "2025-04-22 12:16" };
    expect(await judge({ ...world, also: late })).toMatchObject({ state: "quiet" });
    const walk = `insert into sync.runs (id, kind, status, started_at, heartbeat_at, pid, host) overriding system value
        values (0, 'watch', 'succeeded', '2025-04-22 11:00Z', '2025-04-22 11:00Z', 1, 'test');
      insert into sync.walks (run_id, resource, walk, started_at, finished_at)
        values (0, 'build', 'head', '2025-04-22 11:00Z', '2025-04-22 11:01Z');`;
    expect(await judge({ ...world, also: `${late}; ${walk}` })).toMatchObject({
      state: "unknown",
      reason: "clock",
    });
    // Read two hours too late: builds are dated after they were seen.
    const ahead = "update mirror.builds set date = date + interval '2 hours'";
    expect(await judge({ ...world, looked: "2025-04-22 10:20", also: ahead })).toMatchObject({
      state: "unknown",
      reason: "clock",
    });
  });
});
