/**
 * How long builds waited, worked and took, and how many were open at a time, is only known within bounds: of each build, of each hour, and of the
 * percentiles of each day. The truth lies between them, however seldom the mirror looked. The month of 20,000 builds, with all that a real run does,
 * is judged likewise by `npm run test:month`.
 */
import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { findTimeFaults } from "../../lab/judge/time-fault.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { QUIET } from "../../src/simulate/settings.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { createTestDatabase } from "../support/database.ts";
import { createWorld } from "../support/simulation.ts";
import { type InsertedRow, insertTables } from "./insert-rows.ts";
import { groupBy } from "./model/group-by.ts";
import { HOUR_US, type Micros, momentText, parseMoment, SECOND_US } from "./model/times.ts";

const SEED = Number(process.env.REPORT_SEED ?? randomInt(1_000_000));
/** Of the binary fractions that seconds are counted in. */
const ROUNDING_S = 1e-6;
/** A look asks, and its reply shows what is so half a second later, and is here after another half. */
const WAY_US = SECOND_US / 2;
const BEGAN = "2024-01-01 00:00Z";

const month = liveMonth();

const NAME = "the bounds hold the truth of a month watched $title";
test.each([{ title: "each minute", everyMinutes: 1, atWork: 1000, open: 1 }])(NAME, holdTheTruth);
test.each([
  { title: "hourly", everyMinutes: 60, atWork: 1, open: 1 },
  // A nightly look may find no build at work, and then nothing is known to have been open.
  { title: "nightly", everyMinutes: 1440, atWork: 0, open: 0 },
])(NAME, { tags: ["long"] }, holdTheTruth);

async function holdTheTruth(watched: Record<"everyMinutes" | "atWork" | "open", number>): Promise<void> {
  const { everyMinutes, atWork, open } = watched;
  await using database = await createTestDatabase();
  const { sql } = database;
  await insertWatched(sql, everyMinutes);
  await refreshReport(sql, { sourceTimezone: month.zone, stuckAfterMs: 7_200_000 });
  expect(await findTimeFaults(sql, month.lengths), `REPORT_SEED=${SEED}`).toEqual([]);
  expect(await findPhaseFaults(sql), `REPORT_SEED=${SEED}`).toEqual([]);
  expect(await findBacklogFaults(sql, everyMinutes), `REPORT_SEED=${SEED}`).toEqual([]);
  const [days] = await sql<[{ days: number; told: number }]>`
    select count(*) as days, count(p95_s_max) as told from report.build_times_daily where finished > 10`;
  expect(days.days).toBeGreaterThan(25);
  expect(days.told).toBe(days.days);
  const [told] = await sql<[{ phases: number; seenAtWork: number; hours: number; open: number }]>`
    select (select count(*) from report.fact_builds where queued_s_min is not null) as phases,
      (select count(*) from report.fact_builds where building_s_min > 0) as "seenAtWork",
      (select count(*) from report.backlog) as hours, (select max(open_min) from report.backlog) as open`;
  expect(told.phases).toBeGreaterThan(2500);
  expect(told.seenAtWork).toBeGreaterThanOrEqual(atWork);
  expect(told.hours).toBeGreaterThan(29 * 24);
  expect(told.open).toBeGreaterThanOrEqual(open);
}

type PhaseRow = { id: string; queued_s_min: number } & Record<
  "queued_s_max" | "building_s_min" | "building_s_max",
  number | null
>;

async function findPhaseFaults(sql: Sql): Promise<string[]> {
  const found = await sql<PhaseRow[]>`
    select build_id as id, queued_s_min, queued_s_max, building_s_min, building_s_max from report.fact_builds
    where queued_s_min is not null`;
  const rows = new Map(found.map((row) => [row.id, row]));
  return month.builds.flatMap(({ id, steps }) => {
    const row = rows.get(id);
    const [trigger] = steps;
    const finish = steps.findLast(({ state }) => state === "finished");
    const work = steps.find(({ state }) => state !== "triggered" && state !== "finished") ?? finish;
    if (!row || !trigger || !work) return [];
    const queued = (work.at - trigger.at) / SECOND_US;
    const faults = isWithin(row.queued_s_min, queued, row.queued_s_max)
      ? []
      : [`build ${id} waited ${queued} s, not ${row.queued_s_min} to ${row.queued_s_max} s`];
    if (row.building_s_min === null) return faults;
    const building = finish ? (finish.at - work.at) / SECOND_US : Number.NaN;
    return isWithin(row.building_s_min, building, row.building_s_max)
      ? faults
      : [...faults, `build ${id} worked ${building} s, not ${row.building_s_min} to ${row.building_s_max} s`];
  });
}

function isWithin(least: number, value: number, most: number | null): boolean {
  return least <= value + ROUNDING_S && value <= (most ?? Infinity) + ROUNDING_S;
}

/** Only of hours before the last look: nobody has seen what began after it. */
async function findBacklogFaults(sql: Sql, everyMinutes: number): Promise<string[]> {
  const rows = await sql<{ hour: string; open_min: number; open_max: number }[]>`
    select hour, open_min, open_max from report.backlog`;
  const lastLook = month.endedAt - everyMinutes * 60 * SECOND_US;
  const lives = month.builds.flatMap(({ steps }) => {
    const finish = steps.findLast(({ state }) => state === "finished");
    return steps[0] ? [{ from: steps[0].at, until: finish?.at ?? Infinity }] : [];
  });
  return rows.flatMap(({ hour, open_min, open_max }) => {
    const at = parseMoment(hour);
    expect(at % HOUR_US).toBe(0);
    const open = lives.filter(({ from, until }) => from <= at && at < until).length;
    return at > lastLook || (open_min <= open && open <= open_max)
      ? []
      : [`${open} builds were open at ${hour}, not ${open_min} to ${open_max}`];
  });
}

interface TrueBuild {
  id: string;
  /** As the service sends it. */
  date: string;
  success: boolean;
  steps: { state: string; at: Micros }[];
}

/** 3,000 builds of 30 days in which summer time ends. */
function liveMonth() {
  const [days, zone] = [30, "America/Chicago"];
  const world = createWorld({
    seed: SEED,
    users: 5,
    projects: 20,
    versions: 40,
    files: 0,
    builds: 100,
    outputBytes: 40,
    oddTexts: false,
    timeZone: zone,
    startAt: new Date("2024-10-15T12:00:00Z"),
    closeStuckAfterMs: 26 * 3_600_000,
    rates: { ...QUIET, builds: 3000 / days },
  });
  const beganAt = world.now().getTime() * 1000;
  world.advance(days * 86_400_000);
  const steps = groupBy([...world.truth().transitions()], ({ buildId }) => buildId);
  const builds = [...world.truth().records("build")].map(({ record: { id, date, success } }): TrueBuild => {
    const own = (steps.get(id) ?? []).map(({ to, atMs }) => ({ state: to, at: Math.round(atMs * 1000) }));
    return { id, date: date ?? "", success: success ?? false, steps: own };
  });
  const lengths = new Map(
    builds.flatMap(({ id, steps: [first, ...others] }) => {
      const finish = [first, ...others].at(-1);
      return first && finish?.state === "finished" ? [[id, (finish.at - first.at) / SECOND_US] as const] : [];
    }),
  );
  return { zone, beganAt, endedAt: world.now().getTime() * 1000, builds, lengths };
}

/** Fills an empty mirror with what looks at such a pace have seen of the month. */
async function insertWatched(sql: Sql, everyMinutes: number): Promise<void> {
  const everyUs = everyMinutes * 60 * SECOND_US;
  const seen = month.builds.map((build) => watch(build, everyUs));
  const [started_at, finished_at] = [momentText(month.endedAt), momentText(month.endedAt + SECOND_US)];
  await insertTables(sql, {
    "sync.runs": [
      { kind: "full", status: "succeeded", started_at: BEGAN, heartbeat_at: BEGAN, pid: 1, host: "test" },
    ],
    "sync.walks": [{ run_id: 1, resource: "build", walk: "whole", started_at, finished_at }],
    "mirror.builds": seen.flatMap(({ build }) => build ?? []),
    "mirror.build_transitions": seen.flatMap(({ transitions }) => transitions),
    "sync.open_builds": seen.flatMap(({ open }) => open ?? []),
  });
  // A build was not triggered before its date, unless that is later than its first sight.
  await sql`
    update mirror.build_transitions as first set not_before = reading.earliest
    from mirror.builds as build cross join lateral mirror.read_local_time(build.date, ${month.zone}) as reading
    where build.id = first.build_id and first.seq = 1 and reading.earliest <= first.not_after`;
}

/** Null is a build that no look has met. */
function watch({ id, date, success, steps }: TrueBuild, everyUs: number) {
  const { beganAt, endedAt } = month;
  const transitions: InsertedRow[] = [];
  let lastSeen = null as { state: string; at: Micros } | null;
  const bornAt = steps[0]?.at ?? endedAt;
  const first = Math.max(0, Math.ceil((bornAt - WAY_US - beganAt) / everyUs));
  for (let at = beganAt + first * everyUs; at <= endedAt && lastSeen?.state !== "finished"; at += everyUs) {
    const state = steps.findLast((step) => step.at <= at + WAY_US)?.state ?? "";
    if (state !== lastSeen?.state)
      transitions.push({
        build_id: id,
        seq: transitions.length + 1,
        from_state: lastSeen?.state ?? null,
        to_state: state,
        not_before: lastSeen === null ? "-infinity" : momentText(lastSeen.at),
        not_after: momentText(at + 2 * WAY_US),
        run_id: 1,
      });
    lastSeen = { state, at };
  }
  const seenAt = String(transitions[0]?.not_after);
  if (lastSeen === null) return { build: null, transitions, open: null };
  const { state, at } = lastSeen;
  const moments = { first_seen_at: seenAt, changed_at: momentText(at) };
  return {
    build: { id, date, state, success, type: "html", ...moments, record_hash: "" },
    transitions,
    open: state === "finished" ? null : { build_id: id, since: seenAt, seen_at: momentText(at), run_id: 1 },
  };
}
