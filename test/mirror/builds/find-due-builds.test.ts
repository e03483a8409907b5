import { describe, expect } from "vitest";
import { findDueBuilds, postponeBuilds } from "../../../src/mirror/builds/find-due-builds.ts";
import { type Loading, setUpLoading, loadingTest as test } from "../../support/loading.ts";
import { wireBuild } from "../../support/wire-records.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const TRIGGERED = Date.UTC(2024, 4, 15, 12);

const DATE = new Date(TRIGGERED).toISOString().slice(0, 19);
/** A day later, and builds that were triggered and seen then. */
const LATE = new Date(TRIGGERED + DAY_MS).toISOString();
const lateBuild = (id: string) => wireBuild(id, { date: LATE.slice(0, 19) });

async function seeAt(loading: Loading, ageMs: number, id = "1", over = {}) {
  const at = new Date(TRIGGERED + ageMs).toISOString();
  await loading.load("build", [wireBuild(id, { date: DATE, ...over })], { at });
}

function due({ sql }: Loading, ageMs: number, over: Partial<Parameters<typeof findDueBuilds>[1]> = {}) {
  const now = new Date(TRIGGERED + ageMs);
  const facts = { now, notSeenSince: now, stuckAfterMs: 2 * HOUR_MS, maxDetails: 100, maxStuck: 100 };
  return findDueBuilds(sql, { ...facts, ...over });
}

describe("an open build", () => {
  /** At which age it is seen, and after which wait it is due again. */
  const WAITS: Record<string, [ageMs: number, waitMs: number]> = {
    "10 s": [10_000, MINUTE_MS],
    "5 minutes": [5 * MINUTE_MS, MINUTE_MS],
    "10 minutes": [10 * MINUTE_MS, MINUTE_MS],
    "an hour": [HOUR_MS, 6 * MINUTE_MS],
    "two hours: stuck": [2 * HOUR_MS, 2 * HOUR_MS],
    "eight hours": [8 * HOUR_MS, 8 * HOUR_MS],
    "a day": [DAY_MS, 22 * HOUR_MS],
    "a year": [365 * DAY_MS, 22 * HOUR_MS],
  };

  test("is due again after a wait that grows with its age, and not before", async ({ loading }) => {
    for (const [name, [ageMs, waitMs]] of Object.entries(WAITS)) {
      await seeAt(loading, ageMs, name);
      const isDue = async (ms: number) => (await due(loading, ageMs + ms)).some(({ id }) => id === name);
      expect(await isDue(waitMs), name).toBe(true);
      // Up to half a minute early counts as due.
      if (waitMs > MINUTE_MS) expect(await isDue(waitMs - 31_000), name).toBe(false);
    }
  });

  test("that moved is young again", async ({ loading }) => {
    await seeAt(loading, DAY_MS);
    await seeAt(loading, 2 * DAY_MS, "1", { state: "building" });
    expect(await due(loading, 2 * DAY_MS + MINUTE_MS)).toEqual([{ id: "1", isStuck: false }]);
  });

  test.for([null, "cancelled", " Finished"])("is never due where its state is %j", async (state, {
    loading,
  }) => {
    await seeAt(loading, DAY_MS, "1", { state });
    expect(await due(loading, 30 * DAY_MS)).toEqual([]);
  });

  test("that the run has seen already is not due in it", async ({ loading }) => {
    await seeAt(loading, MINUTE_MS);
    const notSeenSince = new Date(TRIGGERED + MINUTE_MS);
    expect(await due(loading, 2 * MINUTE_MS, { notSeenSince })).toEqual([]);
  });

  test("that did not answer waits as if it had been seen", async ({ loading }) => {
    await seeAt(loading, HOUR_MS);
    const at = new Date(TRIGGERED + 2 * HOUR_MS - 1);
    await postponeBuilds(loading.sql, ["1"], { at, notSeenSince: at });
    expect(await due(loading, 2 * HOUR_MS + 5 * MINUTE_MS)).toEqual([]);
    expect(await due(loading, 2 * HOUR_MS + 12 * MINUTE_MS)).toHaveLength(1);
  });

  test("goes before stuck ones, of which only so many are asked for", async ({ loading }) => {
    for (const id of ["1", "2", "3"]) await seeAt(loading, 3 * HOUR_MS + Number(id), id);
    await loading.load("build", [lateBuild("9")], { at: LATE });
    const ids = async (over: object) => (await due(loading, DAY_MS + MINUTE_MS, over)).map(({ id }) => id);
    expect(await ids({})).toEqual(["9", "1", "2", "3"]);
    expect(await ids({ maxStuck: 2 })).toEqual(["9", "1", "2"]);
    expect(await ids({ maxDetails: 2 })).toEqual(["9", "1"]);
  });

  test.each([
    ["fresh", 2, MINUTE_MS, 1],
    ["stuck", 26, 24 * HOUR_MS, 1],
    ["seen by the hour", 4, HOUR_MS + 30 * MINUTE_MS, 0],
  ])("that is %s stays so when our clock is set back", async (_, hours, backMs, isDue) => {
    await using loading = await setUpLoading();
    await seeAt(loading, hours * HOUR_MS);
    await seeAt(loading, hours * HOUR_MS, "1", { state: "building" });
    // Seen on a clock that lies ahead of ours: due at once.
    const now = hours * HOUR_MS - backMs;
    expect(await due(loading, now)).toHaveLength(1);
    loading.nextRun();
    await seeAt(loading, now, "1", { state: "building" });
    expect(await due(loading, now + MINUTE_MS)).toHaveLength(backMs > MINUTE_MS ? 0 : isDue);
    expect(await due(loading, now + 22 * HOUR_MS)).toHaveLength(1);
  });

  test("that is stuck has its turn though more fresh ones are due than have room", async ({ loading }) => {
    await seeAt(loading, 3 * HOUR_MS, "stuck");
    const fresh = Array.from({ length: 30 }, (_, n) => lateBuild(String(n)));
    await loading.load("build", fresh, { at: LATE });
    const ids = (await due(loading, DAY_MS + MINUTE_MS, { maxDetails: 20 })).map(({ id }) => id);
    expect([ids.length, ids.at(-1)]).toEqual([20, "stuck"]);
    expect(await due(loading, DAY_MS + MINUTE_MS, { maxDetails: 20, maxStuck: 0 })).toHaveLength(20);
  });

  test("that hangs for ever costs 40 requests on its first day, then one a day", { tags: ["long"] }, async ({
    loading,
  }) => {
    await seeAt(loading, 30_000);
    const asked: number[] = [];
    for (let ageMs = MINUTE_MS; ageMs < 3 * DAY_MS; ageMs += MINUTE_MS) {
      if ((await due(loading, ageMs)).length === 0) continue;
      asked.push(ageMs);
      await seeAt(loading, ageMs);
    }
    const onDay = (day: number) => asked.filter((ageMs) => Math.floor(ageMs / DAY_MS) === day).length;
    expect([0, 1, 2].map(onDay)).toEqual([40, 1, 1]);
  });
});
