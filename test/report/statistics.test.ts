/**
 * The statistics that views and queries of users compute: intervals of rates, for counts of each type that Postgres has; the chance of
 * flips; the time to recover, on the data of a textbook and on edges; and which projects got worse. On random builds, random-builds.test.ts.
 */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { wilsonInterval } from "../../src/report/wilson-interval.ts";
import { useDatabase } from "../support/use-database.ts";
import { insertRows } from "./insert-rows.ts";
import { chanceOfFlips } from "./model/series.ts";

const TYPES = ["smallint", "int", "bigint", "numeric", "real", "float8"];
const COVERED_THROUGH = Date.parse("2025-02-28T00:30:00Z");

const { sql } = useDatabase();

beforeAll(async () => {
  const state = { source_timezone: "Etc/UTC", stuck_after_s: 1, definition: "", run_id: 1 };
  await insertRows(sql, "rollup.state", [
    { ...state, covered_through: at(COVERED_THROUGH), refreshed_at: "2025-03-15T00:00:00Z" },
  ]);
});

beforeEach(async () => {
  for (const table of ["rollup.streaks", "rollup.project_days", "report.dim_versions", "report.dim_projects"])
    await sql`delete from ${sql(table)}`;
});

function at(ms: number): string {
  return new Date(ms).toISOString();
}

test("the interval of a rate is null of nothing, and within 0 and 1 elsewhere", () => {
  expect(wilsonInterval(0, 0)).toBeNull();
  // 1 / (1 + 1.96²)
  expect(wilsonInterval(1, 1)).toEqual({ low: expect.closeTo(1 / 4.8416, 12), high: 1 });
  expect(wilsonInterval(0, 1)).toEqual({ low: 0, high: expect.closeTo(3.8416 / 4.8416, 12) });
  expect(wilsonInterval(30, 40)).toEqual({ low: expect.closeTo(0.598, 3), high: expect.closeTo(0.858, 3) });
});

test("the interval of a rate is the same in a page and in the database, for all counts up to 40", async () => {
  const rows = await sql<{ succeeded: number; finished: number; low: number; high: number }[]>`
    select succeeded, finished, success_rate_low as low, success_rate_high as high
    from generate_series(1, 40) as finished cross join lateral generate_series(0, finished) as succeeded
    cross join lateral report.success_rate(succeeded, finished)`;
  expect(rows).toHaveLength(860);
  for (const { succeeded, finished, low, high } of rows) {
    const interval = wilsonInterval(succeeded, finished);
    expect(interval?.low).toBeCloseTo(low, 12);
    expect(interval?.high).toBeCloseTo(high, 12);
  }
});

async function ask(expression: string): Promise<number | null> {
  const [row] = await sql.unsafe<{ value: number | null }[]>(`select ${expression} as value`);
  return row?.value ?? null;
}

const { low, high } = wilsonInterval(3, 4) ?? { low: Number.NaN, high: Number.NaN };
const PAIRS = TYPES.flatMap((one) => TYPES.map((other) => [one, other] as const));

test.each(PAIRS)("the interval of a %s of a %s needs no cast", async (one, other) => {
  const counts = `3::${one}, 4::${other}`;
  expect(await ask(`report.wilson_low(${counts})`)).toBeCloseTo(low, 12);
  expect(await ask(`report.wilson_high(${counts})`)).toBeCloseTo(high, 12);
  const below = -Math.hypot(0.75 - low, high - 0.75);
  expect(await ask(`report.rate_difference_low(${counts}, ${counts})`)).toBeCloseTo(below, 12);
});

test("the interval of sums needs no cast, whatever is summed", async () => {
  for (const type of TYPES) {
    const from = `from (values (1::${type}, 2::${type}), (2, 2)) as counted (succeeded, finished)`;
    const counts = "sum(succeeded), sum(finished)";
    const askFor = (name: string, of: string) => ask(`(select report.${name}(${of}) ${from})`);
    expect(await askFor("wilson_low", counts)).toBeCloseTo(low, 7);
    expect(await askFor("wilson_high", counts)).toBeCloseTo(high, 7);
    expect(await askFor("rate_difference_high", `${counts}, ${counts}`)).toBeGreaterThan(0);
  }
});

test.each([
  "wilson_low",
  "wilson_high",
])("%s is null where a count is null, and where nothing finished", async (name) => {
  for (const counts of ["null, null", "null, 4", "null, 4::bigint", "3::numeric, null", "0, 0"])
    expect(await ask(`report.${name}(${counts})`), counts).toBeNull();
});

test("the planner replaces the functions by their expressions", async () => {
  const plan = await sql.unsafe<{ "QUERY PLAN": string }[]>(`
    explain (verbose, costs off)
    select report.wilson_low(sum(succeeded), sum(finished)), report.wilson_high(count(succeeded), count(*)),
      report.rate_difference_high(sum(succeeded), sum(finished), sum(failed), sum(builds))
    from rollup.days group by day`);
  const text = plan.map((line) => line["QUERY PLAN"]).join("\n");
  expect(text).toContain("sqrt");
  expect(text).not.toMatch(/wilson|rate_difference/);
});

// The examples of Newcombe's paper, method 10. It has four places, and a z of more than two.
test.each([
  [56, 70, 48, 80, 0.0524, 0.3339],
  [9, 10, 3, 10, 0.1705, 0.809],
  [6, 7, 2, 7, 0.0582, 0.8062],
  [5, 56, 0, 29, -0.0381, 0.1926],
  [0, 10, 0, 20, -0.1611, 0.2775],
  [0, 10, 0, 10, -0.2775, 0.2775],
  [10, 10, 0, 20, 0.6791, 1],
  [10, 10, 0, 10, 0.6075, 1],
])("the interval of %d/%d - %d/%d is that of the paper", async (...row) => {
  const counts = row.slice(0, 4).join(", ");
  for (const [place, end] of ["low", "high"].entries()) {
    const found = await ask(`report.rate_difference_${end}(${counts})`);
    expect(Math.abs((found ?? Number.NaN) - (row[4 + place] ?? Number.NaN))).toBeLessThan(1e-4);
  }
});

test("a difference from nothing is null", async () => {
  for (const counts of ["1, 2, 0, 0", "0, 0, 1, 2", "1, 2, null, null"])
    for (const end of ["low", "high"])
      expect(await ask(`report.rate_difference_${end}(${counts})`)).toBeNull();
});

test("the chance of flips is that of counting every order, for all counts up to 20 builds", async () => {
  const rows = await sql<{ succeeded: number; failed: number; flips: number; p: number | null }[]>`
    select succeeded, failed, flips, rollup.flips_p_value(succeeded, failed, flips) as p
    from generate_series(0, 20) as succeeded, generate_series(0, 20 - succeeded) as failed,
      generate_series(0, greatest(0, succeeded + failed - 1)) as flips`;
  expect(rows.length).toBe(3081);
  for (const { succeeded, failed, flips, p } of rows) {
    const chance = chanceOfFlips(succeeded, failed)
      .slice(flips)
      .reduce((sum, one) => sum + one, 0);
    const isTried = succeeded > 0 && failed > 0;
    expect(p, `${succeeded}, ${failed}, ${flips}`).toEqual(isTried ? expect.closeTo(chance, 12) : null);
  }
});

/** Streaks of these hours; `6+` is one that has lasted for six hours and is open. */
async function insertStreaks(hours: string): Promise<void> {
  const rows = hours.split(" ").map((text, index) => {
    const failed = COVERED_THROUGH - Number.parseFloat(text) * 3_600_000;
    const isOpen = text.endsWith("+");
    return {
      project_id: "1",
      version_id: "1",
      type: "html",
      failures: 1,
      first_failed_build_id: `b${index}`,
      last_failed_build_id: `b${index}`,
      broke_at: at(failed),
      recovered_build_id: isOpen ? null : `s${index}`,
      recovered_at: isOpen ? null : at(COVERED_THROUGH),
    };
  });
  await insertRows(sql, "rollup.streaks", rows);
}

function estimate() {
  return sql`
    select *, streaks - recovered as still_open
    from rollup.recovery_times_source where not by_project and not by_type and not by_month`;
}

test("the breaks are estimated without the streaks of what never worked", async () => {
  await insertStreaks("2 4 7 90+ 100+");
  await sql`update rollup.streaks set last_succeeded_build_id = 's' where recovered_build_id is not null`;
  const breaks = { breaks: 3, breaks_recovered: 3, breaks_median_hours: 4 };
  expect(await estimate()).toMatchObject([{ streaks: 5, median_hours: 7, ...breaks }]);
});

test.each([
  {
    // Weeks of remission under 6-MP (Freireich and others, 1963): S(13) = 0.690, S(22) = 0.538, S(23) = 0.448.
    of: "21 patients, as in the textbooks",
    hours: "6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+",
    told: { streaks: 21, recovered: 9, still_open: 12, p25_hours: 13, median_hours: 23, p75_hours: null },
  },
  {
    of: "one that is open for just as long as another took: it was still broken then",
    hours: "5 5+",
    told: { p25_hours: 5, median_hours: 5, p75_hours: null },
  },
  {
    // 3/4 × 2/3
    of: "thirds and quarters that make a half",
    hours: "1 2 4+ 4+",
    told: { p25_hours: 1, median_hours: 2, p75_hours: null },
  },
  {
    of: "closed streaks alone: the plain median",
    hours: "9 1 4 4 7",
    told: { p25_hours: 4, median_hours: 4, p75_hours: 7, closed_median_hours: 4 },
  },
  {
    of: "streaks that recovered at once",
    hours: "0 0",
    told: { median_hours: 0, p75_hours: 0, closed_median_hours: 0 },
  },
  {
    of: "open streaks alone: nothing is known",
    hours: "1+ 2+",
    told: { recovered: 0, p25_hours: null, median_hours: null, closed_median_hours: null },
  },
])("the time to recover is estimated of $of", async ({ hours, told }) => {
  await insertStreaks(hours);
  expect(await estimate()).toMatchObject([told]);
});

test("a streak was broken until its project or its version was deleted, whichever came first", async () => {
  await insertStreaks("2 3 10+");
  expect(await estimate()).toMatchObject([{ median_hours: 3, p75_hours: null }]);
  const gone = { is_deleted: true, deleted_at: at(COVERED_THROUGH - 9 * 3_600_000) };
  await sql`insert into report.dim_projects ${sql({ project_id: "1", project_slug: "one", project_name: "one", ...gone })}`;
  const [later] = await estimate();
  // One hour is too short to have seen how the others went on: 1/2, then 0.
  expect(later).toMatchObject({ median_hours: 2, p75_hours: 3 });
  await sql`insert into report.dim_versions ${sql({ version_id: "1", project_id: "1", version_slug: "v", is_main: false, is_deleted: true, deleted_at: at(COVERED_THROUGH - 20 * 3_600_000) })}`;
  expect(await estimate()).toMatchObject([{ streaks: 3, still_open: 1, median_hours: 2, p75_hours: 3 }]);
});

async function insertDays(project_id: string, days: Record<string, [succeeded: number, finished: number]>) {
  const rows = Object.entries(days).map(([day, [succeeded, finished]]) => ({
    project_id,
    day,
    builds: finished,
    finished,
    succeeded,
    failed: finished - succeeded,
    unsettled: 0,
  }));
  await insertRows(sql, "rollup.project_days", rows);
}

const findRegressed = async () => {
  const rows = await sql`select project_id from report.regressions order by 1`;
  return rows.map(({ project_id }) => project_id);
};

test("a project with fewer than 20 finished builds in one span is not judged", async () => {
  await insertDays("1", { "2025-02-01": [20, 20], "2025-02-25": [0, 19] });
  await insertDays("2", { "2025-02-01": [19, 19], "2025-02-25": [0, 20] });
  await insertDays("3", { "2025-02-01": [20, 20], "2025-02-25": [0, 20] });
  await insertDays("-1", { "2025-02-01": [20, 20], "2025-02-25": [0, 20] });
  expect(await findRegressed()).toEqual(["3"]);
});

test("a fall that chance may explain is none, and neither is a rise", async () => {
  await insertDays("chance", { "2025-02-01": [80, 100], "2025-02-25": [14, 20] });
  await insertDays("better", { "2025-02-01": [20, 100], "2025-02-25": [20, 20] });
  await insertDays("worse", { "2025-02-01": [80, 100], "2025-02-25": [11, 20] });
  expect(await findRegressed()).toEqual(["worse"]);
});
