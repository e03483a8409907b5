import { expect } from "vitest";
import { updateBuildStates } from "../../../src/mirror/load/build-states.ts";
import { withSnapshot } from "../../../src/report/read-answer.ts";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { findFigures } from "../../../src/report/status/figures.ts";
import { findOpenBuilds } from "../../../src/report/status/find-status.ts";
import { loadingTest as test } from "../../support/loading.ts";
import { NO_LIMIT } from "../../support/no-limit.ts";
import { wireBuild } from "../../support/wire-records.ts";

const SETTINGS = { stuckAfterMs: 2 * 3_600_000, sourceTimezone: "Etc/UTC", ...NO_LIMIT };
const SEEN_AT = "2024-05-15T12:00:00.000Z";
const [YOUNG, OLD] = ["2024-05-15T11:00:00", "2024-05-15T09:00:00"];

/** States as services send them, and whether a build in one is open. */
const STATES: [state: string | null, isOpen: boolean][] = [
  ["triggered", true],
  ["cloning", true],
  ["Uploading ", true],
  ["pondering", true],
  ["", true],
  [null, true],
  ["finished", false],
  ["cancelled", false],
  ["CANCELED", false],
  [" error\n", false],
];

test("one number of stuck builds is in status, metrics, open builds, days and projects", async ({
  loading,
}) => {
  const { sql } = loading;
  await loading.load("project", [{ id: "1", slug: "pip", resource_uri: "/api/v1/project/1/" }]);
  const builds = STATES.flatMap(([state], place) =>
    [YOUNG, OLD].map((date) => {
      const project = "/api/v1/project/1/";
      return wireBuild(`${place}${date === OLD ? "old" : "young"}`, { state, date, project, success: true });
    }),
  );
  await loading.load("build", builds, { at: SEEN_AT });
  const later = "2024-05-15T12:01:00.000Z";
  const gone = { id: "1old", askedAt: later, observedAt: later, request: "/api/v1/build/1old/" };
  await loading.loader.vanish([gone]);
  await refreshReport(sql, SETTINGS);

  const open = STATES.filter(([, isOpen]) => isOpen).map(([state]) => state);
  const status = await findOpenBuilds(sql, SETTINGS);
  const stuckIn = (state: string | null) => (state === "cloning" ? 0 : 1);
  expect(new Map(status.map((row) => [row.state, [row.open, row.stuck]]))).toEqual(
    new Map(open.map((state) => [state, [2, stuckIn(state)]])),
  );
  const stuck = open.length - 1;
  const figures = await withSnapshot(sql, (tx) => findFigures(tx, { ...SETTINGS, isWorker: false }));
  expect(figures.find((row) => "docmirror_builds_stuck" in row)?.docmirror_builds_stuck).toBe(stuck);
  const [told] = await sql`
    select (select count(*) from report.open_builds where outcome = 'stuck') as open,
      (select sum(stuck) from report.success_rate_daily)::int as days,
      (select sum(stuck) from report.success_rate_daily_by_project)::int as project_days,
      (select sum(stuck) from report.project_states)::int as projects`;
  expect(told).toEqual({ open: stuck, days: stuck, project_days: stuck, projects: stuck });
  const shown = await sql`select distinct state from report.open_builds where outcome = 'stuck'`;
  expect(new Set(shown.map(({ state }) => state))).toEqual(
    // An empty one is none.
    new Set(open.filter((state) => state !== "cloning").map((state) => state || null)),
  );
});

test("a word that becomes final changes what its builds count as, and back", { tags: ["long"] }, async ({
  loading,
}) => {
  const { sql } = loading;
  const outcomes = async () => {
    await refreshReport(sql, SETTINGS);
    return (await sql`select outcome from report.fact_builds`).map(({ outcome }) => outcome);
  };
  await loading.load("build", [wireBuild("1", { state: "expired", date: OLD })], { at: SEEN_AT });
  expect(await outcomes()).toEqual(["stuck"]);
  const facts = { runId: 2, isLearning: false, assertMayWrite: async () => {} };
  await updateBuildStates(sql, { ...facts, finalStates: ["expired"] });
  expect(await outcomes()).toEqual(["cancelled"]);
  await updateBuildStates(sql, { ...facts, finalStates: null });
  expect(await outcomes()).toEqual(["stuck"]);
});
