/** The estimate of the time to recover, on the data of a textbook and on edges. */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { useDatabase } from "../support/use-database.ts";
import { insertRows } from "./insert-rows.ts";

const COVERED_THROUGH = Date.parse("2025-03-01T00:00:00Z");

const { sql } = useDatabase();

beforeAll(async () => {
  const covered_through = at(COVERED_THROUGH);
  const state = { source_timezone: "Etc/UTC", stuck_after_s: 1, definition: "", run_id: 1 };
  await insertRows(sql, "rollup.state", [{ ...state, covered_through, refreshed_at: covered_through }]);
});

beforeEach(async () => {
  await sql`delete from rollup.streaks`;
  await sql`delete from report.dim_versions`;
  await sql`delete from report.dim_projects`;
});

function at(ms: number): string {
  return new Date(ms).toISOString();
}

/** Streaks of these hours; `6+` is one that has lasted for six hours and is open. */
async function insertStreaks(hours: string): Promise<void> {
  const rows = hours.split(" ").map((text, index) => {
    const failed = COVERED_THROUGH - Number.parseFloat(text) * 3_600_000;
    const isOpen = text.endsWith("+");
    return {
      ...{ project_id: "1", version_id: "1", type: "html", failures: 1 },
      ...{ first_failed_build_id: `b${index}`, last_failed_build_id: `b${index}`, broke_at: at(failed) },
      recovered_build_id: isOpen ? null : `s${index}`,
      recovered_at: isOpen ? null : at(COVERED_THROUGH),
    };
  });
  await insertRows(sql, "rollup.streaks", rows);
}

function estimate() {
  return sql`
    select streaks, recovered, streaks - recovered as still_open, p25_hours, median_hours, p75_hours, closed_median_hours
    from rollup.recovery_times_source where not by_project and not by_type and not by_month`;
}

// Weeks of remission under 6-MP (Freireich and others, 1963): S(13) = 0.690, S(22) = 0.538, S(23) = 0.448.
test("the estimate for 21 patients is that of the textbooks", async () => {
  await insertStreaks("6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+");
  expect(await estimate()).toMatchObject([
    {
      ...{ streaks: 21, recovered: 9, still_open: 12 },
      ...{ p25_hours: 13, median_hours: 23, p75_hours: null, closed_median_hours: 10 },
    },
  ]);
});

test("streaks that are open for just as long as another took to recover were still broken then", async () => {
  await insertStreaks("5 5+");
  expect(await estimate()).toMatchObject([{ p25_hours: 5, median_hours: 5, p75_hours: null }]);
});

test("a half that thirds and quarters make is a half", async () => {
  // 3/4 × 2/3
  await insertStreaks("1 2 4+ 4+");
  expect(await estimate()).toMatchObject([{ p25_hours: 1, median_hours: 2, p75_hours: null }]);
});

test("without open streaks the estimate is the plain median, and where all recovered at once it is 0", async () => {
  await insertStreaks("9 1 4 4 7");
  expect(await estimate()).toMatchObject([
    { p25_hours: 4, median_hours: 4, p75_hours: 7, closed_median_hours: 4 },
  ]);
  await sql`update rollup.streaks set broke_at = recovered_at`;
  expect(await estimate()).toMatchObject([{ median_hours: 0, p75_hours: 0, closed_median_hours: 0 }]);
});

test("of open streaks alone nothing is known", async () => {
  await insertStreaks("1+ 2+");
  expect(await estimate()).toMatchObject([
    { recovered: 0, p25_hours: null, median_hours: null, closed_median_hours: null },
  ]);
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
