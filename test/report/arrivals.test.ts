/** Whether builds arrive as usual: rows by hand, and the same from the model. */
import { beforeAll, describe, expect, test } from "vitest";
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

// Builds come until 09:55: six an hour.
const STOPPED = { until: "2025-04-22 09:56" };
const GAP = "delete from mirror.builds where date > '2025-04-15 03:05' and date < '2025-04-15 04:05'";
const OFFICE =
  "delete from mirror.builds where extract(isodow from date) > 5 or extract(hour from date) not between 8 and 17";
const FEW =
  "delete from mirror.builds where date > '2025-04-21 10:20' and extract(minute from date) not in (5, 35)";
const MARCH = { from: "2025-03-01", until: "2025-03-31 00:00" };
// Tuesday. The last hour ends at 10:20: builds at 5 and 15 past.
const TUESDAY = { until: "2025-04-22 10:20", looked: "2025-04-22 10:20" };
const LATER = { ...TUESDAY, looked: "2025-04-22 12:20" };

// Read two hours too early: the mirror looked after the date of its last build and did not see it.
const EARLY =
  "update mirror.builds set first_seen_at = date at time zone 'UTC' + interval '2 hours' where id = '202504221015'";
const LOOK = `insert into sync.runs (id, kind, status, started_at, heartbeat_at, pid, host) overriding system value
    values (0, 'watch', 'succeeded', '2025-04-22 11:00Z', '2025-04-22 11:00Z', 1, 'test');
  insert into sync.walks (run_id, resource, walk, started_at, finished_at)
    values (0, 'build', 'head', '2025-04-22 11:00Z', '2025-04-22 11:01Z');`;
// Read two hours too late: builds are dated after they were seen.
const AHEAD = "update mirror.builds set date = date + interval '2 hours'";

type Case = [what: string, world: World, row: Record<string, unknown>];

/** What is known, and what it means. */
const STATES: readonly Case[] = [
  [
    "nine usual ones that did not come",
    { ...STOPPED, looked: "2025-04-22 11:25" },
    { state: "usual", usual_since: 9, gap_s: 5400, last_build_id: "202504220955" },
  ],
  [
    "ten, and twice the longest gap",
    { ...STOPPED, looked: "2025-04-22 11:35" },
    { state: "quiet", usual_since: 10, fewest_since: 4, most_since: 10, state_now: "unknown" },
  ],
  [
    "more than the longest gap",
    { ...STOPPED, looked: "2025-04-22 11:45", also: GAP },
    { state: "late", longest_gap_s: 3600, gap_s: 6600 },
  ],
  [
    "more than twice the longest gap",
    { ...STOPPED, looked: "2025-04-22 11:55:01", also: GAP },
    { state: "quiet" },
  ],
  [
    "a weekend of a service that builds on weekdays alone",
    { until: "2025-04-25 18:00", looked: "2025-04-27 12:00", also: OFFICE },
    { state: "usual", longest_gap_s: (2 * 24 + 14) * 3600 + 600, fewest_since: 0 },
  ],
  [
    "fewer in a day than on any other",
    { ...TUESDAY, also: FEW },
    { state: "few", builds_24h: 48, usual_24h: 88, fewest_24h: 57 },
  ],
  ["28 days without one", { ...MARCH, looked: "2025-04-27 23:35" }, { state: "quiet", usual_since: 88 }],
  ["a minute more", { ...MARCH, looked: "2025-04-27 23:36" }, { state: "dormant", reason: null }],
  [
    "two months, after a single day",
    { ...MARCH, from: "2025-03-30", looked: "2025-05-30 00:00" },
    { state: "dormant" },
  ],
  [
    "a list that was never read",
    { ...LATER, also: "update sync.walks set walk = 'not_whole'" },
    { state: "unknown", reason: "not_read", looked_at: null },
  ],
  [
    "no builds",
    { ...LATER, until: "2025-01-01" },
    { state: "unknown", reason: "no_builds", last_build_at: null },
  ],
  [
    "thirteen days",
    { ...LATER, from: "2025-04-08 12:00" },
    { state: "unknown", reason: "too_few_days", days_known: 13 },
  ],
  ["fourteen days", { ...LATER, from: "2025-04-08 10:00" }, { reason: null, days_known: 14 }],
  [
    "some hours",
    { ...TUESDAY, from: "2025-04-22 05:00" },
    { reason: "too_few_days", days_known: 0, builds_24h: 20, usual_24h: null, usual_since: null },
  ],
  ["a build that was seen late", { ...TUESDAY, looked: "2025-04-22 12:16", also: EARLY }, { state: "quiet" }],
  [
    "a build that a look before did not see",
    { ...TUESDAY, looked: "2025-04-22 12:16", also: `${EARLY}; ${LOOK}` },
    { state: "unknown", reason: "clock" },
  ],
  ["builds of the future", { ...TUESDAY, also: AHEAD }, { state: "unknown", reason: "clock" }],
];

describe("builds that arrive", () => {
  test("are usual where no gap was longer, and the hour has what it had on such days", async () => {
    const row = await judge(TUESDAY);
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

  test.each(STATES)("are judged after %s", { tags: ["long"] }, async (_what, world, row) => {
    expect(await judge(world)).toMatchObject(row);
  });
});
