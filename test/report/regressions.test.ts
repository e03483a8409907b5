/** Which projects got worse, at the edges of the spans and of what is surely worse. */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { useDatabase } from "../support/use-database.ts";
import { insertRows } from "./insert-rows.ts";

const { sql } = useDatabase();

beforeAll(async () => {
  const state = { source_timezone: "Etc/UTC", stuck_after_s: 1, definition: "", run_id: 1 };
  await insertRows(sql, "rollup.state", [
    { ...state, covered_through: "2025-02-28T00:30:00Z", refreshed_at: "2025-03-15T00:00:00Z" },
  ]);
});

beforeEach(() => sql`delete from rollup.project_days`);

async function insertDays(project_id: string, days: Record<string, [succeeded: number, finished: number]>) {
  const rows = Object.entries(days).map(([day, [succeeded, finished]]) => ({
    ...{ project_id, day, builds: finished, finished, succeeded, failed: finished - succeeded, unsettled: 0 },
  }));
  await insertRows(sql, "rollup.project_days", rows);
}

const findRegressed = async () => {
  const rows = await sql`select project_id from report.regressions order by 1`;
  return rows.map(({ project_id }) => project_id);
};

test("the last 7 days end with the day of the last sync, and 28 days come before them", async () => {
  await insertDays("1", {
    "2025-01-24": [0, 1000],
    "2025-01-25": [30, 40],
    "2025-02-21": [50, 40 + 20],
    "2025-02-22": [10, 20],
    "2025-02-28": [5, 30],
    "2025-03-01": [1000, 1000],
  });
  expect(await sql`select * from report.regressions`).toEqual([
    {
      ...{ project_id: "1", project_slug: null, last_failed_build_id: null },
      ...{ finished_last_7_days: 50, succeeded_last_7_days: 15, success_rate_last_7_days: 0.3 },
      ...{ finished_28_days_before: 100, succeeded_28_days_before: 80, success_rate_28_days_before: 0.8 },
      difference: expect.closeTo(-0.5, 12),
      // From Wilson's 0.1910 to 0.4375, and 0.7112 to 0.8666.
      difference_low: expect.closeTo(-0.5 - Math.hypot(0.3 - 0.191, 0.8666 - 0.8), 3),
      difference_high: expect.closeTo(-0.5 + Math.hypot(0.4375 - 0.3, 0.8 - 0.7112), 3),
    },
  ]);
});

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
