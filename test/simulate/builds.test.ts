import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createBuildStore } from "../../src/simulate/builds.ts";
import { QUIET } from "../../src/simulate/settings.ts";
import { createWorld, type TrueTransition, type World } from "../support/simulation.ts";
import { walkList } from "./walk-world.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const size = { users: 20, projects: 30, versions: 60, files: 0 };

function byBuild(transitions: Iterable<TrueTransition>): Map<string, TrueTransition[]> {
  const builds = new Map<string, TrueTransition[]>();
  for (const transition of transitions)
    builds.set(transition.buildId, [...(builds.get(transition.buildId) ?? []), transition]);
  return builds;
}

const buildsOf = (world: World) => [...world.truth().records("build")].map(({ record }) => record);

describe("the life of builds", () => {
  test("at every moment the list shows the state that the truth tells", { tags: ["long"] }, async () => {
    const world = createWorld({ ...size, builds: 200, rates: { builds: 600, buildDeletions: 100 } });
    const seen = new Map<string, { state: string; atMs: number }[]>();
    for (let minute = 0; minute < 240; minute++) {
      world.advance(MINUTE);
      const atMs = world.now().getTime();
      for (const build of await walkList(world, "build", 1000)) {
        const sightings = seen.get(build.id) ?? [];
        sightings.push({ state: build.state, atMs });
        seen.set(build.id, sightings);
      }
    }
    const truth = byBuild(world.truth().transitions());
    const met = new Set<string>();
    for (const [id, sightings] of seen) {
      for (const { state, atMs } of sightings) {
        met.add(state);
        expect(state).toBe(truth.get(id)?.findLast((step) => step.atMs <= atMs)?.to);
      }
    }
    expect([...met].sort()).toEqual(["building", "cloning", "finished", "installing", "triggered"]);
  });

  test("transitions follow one another from the trigger on, none in the future", { tags: ["long"] }, () => {
    const world = createWorld({ ...size, builds: 2000 });
    world.advance(DAY);
    for (const steps of byBuild(world.truth().transitions()).values()) {
      expect(steps[0]?.from).toBeNull();
      steps.forEach((step, index) => {
        if (index > 0) {
          expect(step.from).toBe(steps[index - 1]?.to);
          expect(step.atMs).toBeGreaterThan(steps[index - 1]?.atMs ?? 0);
        }
        expect(step.atMs).toBeLessThanOrEqual(world.now().getTime());
      });
    }
  });

  test("a date never lies after the moment of its trigger", async () => {
    const world = createWorld({ ...size, builds: 3000 });
    const truth = byBuild(world.truth().transitions());
    for (const build of await walkList(world, "build", 1000)) {
      const [first] = truth.get(build.id) ?? [];
      expect(Date.parse(`${build.date}Z`)).toBeLessThanOrEqual(first?.atMs ?? 0);
    }
  });

  test("half of the builds take 183 s, one in twenty more than 821 s", () => {
    const world = createWorld({ ...size, builds: 20_000, rates: QUIET });
    world.advance(DAY);
    const seconds: number[] = [];
    for (const steps of byBuild(world.truth().transitions()).values()) {
      const [first, last] = [steps[0], steps.at(-1)];
      if (first?.to === "triggered" && last?.to === "finished") seconds.push((last.atMs - first.atMs) / 1000);
    }
    seconds.sort((a, b) => a - b);
    const median = seconds[Math.floor(seconds.length * 0.5)] ?? 0;
    const slow = seconds[Math.floor(seconds.length * 0.95)] ?? 0;
    expect(median).toBeGreaterThan(175);
    expect(median).toBeLessThan(191);
    expect(slow).toBeGreaterThan(770);
    expect(slow).toBeLessThan(870);
  });

  test("a build that has not finished claims success and has no texts", () => {
    const world = createWorld({ ...size, builds: 2000, stuckShare: 0.2 });
    const open = buildsOf(world).filter(({ state }) => state !== "finished");
    expect(open.map(({ state }) => state)).toContain("triggered");
    for (const build of open)
      expect(build).toMatchObject({ success: true, output: "", error: "", setup: "", setup_error: "" });
  });

  test("stuck builds stay open for ever", () => {
    const world = createWorld({ ...size, builds: 1000, stuckShare: 0.1, rates: QUIET });
    world.advance(400 * DAY);
    const open = buildsOf(world).filter(({ state }) => state !== "finished");
    expect(open.length).toBeGreaterThan(50);
    expect(new Set(open.map(({ state }) => state))).toEqual(new Set(["triggered", "building"]));
  });

  test("a cancelled build ends as that, without success, and never goes on", () => {
    const world = createWorld({ ...size, builds: 1000, cancelledShare: 0.1, stuckShare: 0, rates: QUIET });
    world.advance(DAY);
    const cancelled = buildsOf(world).filter(({ state }) => state === "cancelled");
    expect(cancelled.length).toBeGreaterThan(50);
    expect(cancelled.every((build) => !build.success && build.output === "")).toBe(true);
    world.advance(30 * DAY);
    expect(buildsOf(world).filter(({ state }) => state === "cancelled")).toHaveLength(cancelled.length);
  });

  test("a job closes stuck builds as failed where it exists", () => {
    const stuck = { builds: 1000, stuckShare: 0.1, closeStuckAfterMs: DAY, rates: QUIET };
    const world = createWorld({ ...size, ...stuck });
    world.advance(2 * DAY);
    const records = buildsOf(world);
    expect(records.every((build) => build.state === "finished")).toBe(true);
    const closed = records.filter((build) => build.error.includes("inactivity"));
    expect(closed.length).toBeGreaterThan(30);
    expect(closed.every((build) => !build.success)).toBe(true);
  });

  test("outputs are as long as asked for on average, failures tell their reason", { tags: ["long"] }, () => {
    const world = createWorld({ ...size, builds: 3000, outputBytes: 3000 });
    const finished = buildsOf(world).filter((build) => build.state === "finished");
    const succeeded = finished.filter((build) => build.success);
    const mean = succeeded.reduce((sum, build) => sum + build.output.length, 0) / succeeded.length;
    expect(mean).toBeGreaterThan(2700);
    expect(mean).toBeLessThan(3300);
    const failed = finished.filter((build) => !build.success);
    const reasons = failed.map((build) => build.error + build.setup_error);
    expect(reasons.every((reason) => reason !== "")).toBe(true);
    const kinds = ["git clone failed", "No matching distribution", "conf.py", "treated as error", "LaTeX"];
    for (const kind of [...kinds, "timeout", "memory"])
      expect(reasons).toContainEqual(expect.stringContaining(kind));
  });
});

const step = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), date: fc.integer({ min: 0, max: 50 }) }),
  fc.record({ kind: fc.constant("remove" as const), row: fc.nat(40) }),
  fc.record({ kind: fc.constant("removeWhere" as const), modulus: fc.integer({ min: 2, max: 5 }) }),
);

test("the list holds the live rows, newest date first and of equal dates the newest row", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const store = createBuildStore(0);
      let model: { row: number; date: number }[] = [];
      for (const action of steps) {
        if (action.kind === "add") {
          const row = store.add({ createdAt: 1, date: action.date, project: 3, version: null });
          model.push({ row, date: action.date });
        } else if (action.kind === "remove") {
          const live = model.some(({ row }) => row === action.row);
          expect(store.remove(action.row, 9)).toBe(live);
          model = model.filter(({ row }) => row !== action.row);
        } else {
          const gone = store.removeWhere((row) => row % action.modulus === 0, 9);
          expect(gone).toHaveLength(model.filter(({ row }) => row % action.modulus === 0).length);
          model = model.filter(({ row }) => row % action.modulus !== 0);
        }
      }
      const expected = model.sort((a, b) => b.date - a.date || b.row - a.row).map(({ row }) => row);
      expect(Array.from({ length: store.liveCount }, (_, place) => store.rowAt(place))).toEqual(expected);
      for (let row = 0; row < store.rowCount; row++) {
        expect(store.rowOf(store.idOf(row))).toBe(expected.includes(row) ? row : undefined);
      }
    }),
  );
});
