/**
 * How long builds took is only known within bounds; the true percentile of each day lies between those of the bounds, however seldom the mirror
 * looked. The month of 20,000 builds, with all that a real run does, is judged likewise by `npm run test:month`.
 */
import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { findTimeFaults } from "../../lab/judge/time-fault.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { createTestDatabase } from "../support/database.ts";
import { insertWatched, liveMonth } from "./watched-month.ts";

const SEED = Number(process.env.REPORT_SEED ?? randomInt(1_000_000));

const month = liveMonth(SEED);

test.each([
  { title: "each minute", everyMinutes: 1 },
  { title: "each five minutes", everyMinutes: 5 },
  { title: "hourly", everyMinutes: 60 },
  { title: "nightly", everyMinutes: 1440 },
])("the bounds hold the true percentiles of each day of a month watched $title", async ({ everyMinutes }) => {
  await using database = await createTestDatabase();
  const { sql, url } = database;
  await insertWatched(sql, month, everyMinutes);
  await refreshReport(url, { sourceTimezone: month.zone, stuckAfterMs: 7_200_000 });
  expect(await findTimeFaults(sql, month.lengths), `REPORT_SEED=${SEED}`).toEqual([]);
  const [days] = await sql<[{ days: number; told: number }]>`
    select count(*) as days, count(p95_s_max) as told from report.build_times_daily where finished > 10`;
  expect(days.days).toBeGreaterThan(25);
  expect(days.told).toBe(days.days);
});
