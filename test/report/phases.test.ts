/**
 * How long builds waited and worked, and how many were open at a time, is only known within bounds. The truth lies between them, however seldom
 * the mirror looked.
 */
import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { createTestDatabase } from "../support/database.ts";
import { HOUR_US, parseMoment, SECOND_US } from "./model/times.ts";
import { insertWatched, liveMonth } from "./watched-month.ts";

const SEED = Number(process.env.REPORT_SEED ?? randomInt(1_000_000));
/** Of the binary fractions that seconds are counted in. */
const ROUNDING_S = 1e-6;

const month = liveMonth(SEED);

test.each([
  { title: "each minute", everyMinutes: 1, atWork: 1000, open: 1 },
  { title: "hourly", everyMinutes: 60, atWork: 1, open: 1 },
  // A nightly look may find no build at work, and then nothing is known to have been open.
  { title: "nightly", everyMinutes: 1440, atWork: 0, open: 0 },
])("the bounds of phases and of the backlog hold the truth of a month watched $title", async ({
  everyMinutes,
  atWork,
  open,
}) => {
  await using database = await createTestDatabase();
  const { sql, url } = database;
  await insertWatched(sql, month, everyMinutes);
  await refreshReport(url, { sourceTimezone: month.zone, stuckAfterMs: 7_200_000 });
  expect(await findPhaseFaults(sql), `REPORT_SEED=${SEED}`).toEqual([]);
  expect(await findBacklogFaults(sql, everyMinutes), `REPORT_SEED=${SEED}`).toEqual([]);
  const [told] = await sql<[{ phases: number; seenAtWork: number; hours: number; open: number }]>`
    select (select count(*) from report.fact_builds where queued_s_min is not null) as phases,
      (select count(*) from report.fact_builds where building_s_min > 0) as "seenAtWork",
      (select count(*) from report.backlog) as hours, (select max(open_min) from report.backlog) as open`;
  expect(told.phases).toBeGreaterThan(2500);
  expect(told.seenAtWork).toBeGreaterThanOrEqual(atWork);
  expect(told.hours).toBeGreaterThan(29 * 24);
  expect(told.open).toBeGreaterThanOrEqual(open);
});

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
