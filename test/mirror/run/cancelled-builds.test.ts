import { expect, test } from "vitest";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { findOpenBuilds } from "../../../src/report/status/find-status.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { startQuickWorld } from "../../support/quick-world.ts";

const HOUR_MS = 3_600_000;
const REPORTS = { stuckAfterMs: 2 * HOUR_MS, sourceTimezone: "Etc/UTC" };

test("nights without a watch ask for no cancelled build, and nothing counts it as open", async () => {
  const world = { cancelledShare: 0.3, stuckShare: 0, builds: 300, rates: { ...QUIET, builds: 20 } };
  await using quick = await startQuickWorld({ ...world, timeZone: "Etc/UTC", clockSteps: false });
  const settings = { fullEveryDays: 7, verifySample: 0 };
  await quick.sync({ settings });
  for (let night = 0; night < 3; night++) {
    quick.world.advance(24 * HOUR_MS);
    const { summary } = await quick.sync({ settings, kind: "incremental" });
    expect(summary).toMatchObject({ status: "succeeded", unfinished: { open_builds: 0 } });
    // Builds of the last minutes of the day before may be open.
    const states = await quick.sql`
      select distinct state from sync.open_builds join mirror.builds on id = build_id`;
    expect(states.map(({ state }) => state)).not.toContain("cancelled");
    expect((await findOpenBuilds(quick.sql, REPORTS)).reduce((sum, { stuck }) => sum + stuck, 0)).toBe(0);
  }
  await refreshReport(quick.sql, REPORTS);
  const truth = [...quick.world.truth().records("build")].map(({ record }) => record.state);
  const cancelled = truth.filter((state) => state === "cancelled").length;
  const finished = truth.filter((state) => state === "finished").length;
  expect(cancelled).toBeGreaterThan(50);
  const [sum] = await quick.sql`
    select sum(builds)::int as builds, sum(finished)::int as finished, sum(cancelled)::int as cancelled,
      sum(unfinished)::int as unfinished from report.success_rate_by_type`;
  expect(sum).toEqual({
    builds: truth.length,
    finished,
    cancelled,
    unfinished: truth.length - finished - cancelled,
  });
});
