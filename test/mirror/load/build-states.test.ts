import { describe, expect } from "vitest";
import { updateBuildStates } from "../../../src/mirror/load/build-states.ts";
import { BUILD_STATES, isFinalStage, stateWord } from "../../../src/resources/build-states.ts";
import { type Loading, loadingTest as test } from "../../support/loading.ts";
import { wireBuild } from "../../support/wire-records.ts";

const FACTS = { runId: 9, finalStates: null, isLearning: true, assertMayWrite: async () => {} };

const update = (loading: Loading, facts: Partial<Parameters<typeof updateBuildStates>[1]> = {}) =>
  updateBuildStates(loading.sql, { ...FACTS, ...facts });

const openIds = async ({ sql }: Loading) =>
  (await sql`select build_id from sync.open_builds order by build_id`).map(({ build_id }) => build_id);

const stored = ({ sql }: Loading) =>
  sql`select state, stage, is_final, source from sync.build_states order by state collate "C"`;

const noted = async ({ sql }: Loading) =>
  (await sql`delete from sync.touched_records where record_id is null returning resource`).map(
    ({ resource }) => resource,
  );

/** Builds that are seen in a state on two days, so many hours apart. */
async function stay(loading: Loading, count: number, state: string, hours = 48) {
  const builds = Array.from({ length: count }, (_, n) => wireBuild(`${state}${n}`, { state, date: null }));
  const end = new Date(Date.UTC(2024, 4, 1, hours)).toISOString();
  await loading.load("build", builds, { at: "2024-05-01T00:00:00.000Z" });
  await loading.load("build", builds, { at: end });
}

describe("the states of builds", () => {
  test("are after a migration those that the program declares, and a run changes none", async ({
    loading,
  }) => {
    const declared = Object.entries(BUILD_STATES)
      .map(([state, { stage, source }]) => ({ state, stage, is_final: isFinalStage(stage), source }))
      .toSorted((one, other) => (one.state < other.state ? -1 : 1));
    expect(await stored(loading)).toEqual(declared);
    await noted(loading);
    expect(await update(loading)).toMatchObject({ gained: [], lost: [] });
    expect(await stored(loading)).toEqual(declared);
    expect(await noted(loading)).toEqual([]);
  });

  test("are compared in SQL as in the program", async ({ loading }) => {
    const texts = ["Finished", " CANCELLED\n", "\tİşte ", "K", "\u00a0error", "", "a b", "valve", "\v\f x\r"];
    for (const text of texts) {
      const [row] = await loading.sql`select sync.state_word(${text}) as word`;
      expect(row?.word, JSON.stringify(text)).toBe(stateWord(text));
    }
  });

  test("are final where a setting says so, and only while it does", async ({ loading }) => {
    const builds = [wireBuild("1", { state: "Expired " }), wireBuild("2", { state: "building" })];
    await loading.load("build", builds, { at: "2024-05-01T00:00:00.000Z" });
    await noted(loading);
    const set = await update(loading, { finalStates: ["expired", "finished"], isLearning: false });
    expect(set).toMatchObject({ gained: ["expired"], lost: [] });
    expect([set.isFinal("EXPIRED"), set.isFinal("building"), set.isFinal(null)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(await openIds(loading)).toEqual(["2"]);
    expect(await noted(loading)).not.toEqual([]);
    const unset = await update(loading, { isLearning: false });
    expect(unset).toMatchObject({ gained: [], lost: ["expired"] });
    expect(await openIds(loading)).toEqual(["1", "2"]);
    expect(await loading.sql`select seen_at from sync.open_builds where build_id = '1'`).toEqual([
      { seen_at: "2024-05-01 00:00:00+00" },
    ]);
  });

  test("are final where a setting says so of a known one that is not documented", async ({ loading }) => {
    await update(loading, { finalStates: ["uploading"] });
    expect(await stored(loading)).toContainEqual({
      state: "uploading",
      stage: "cancelled",
      is_final: true,
      source: "set",
    });
  });
});

describe("a state that nobody knows", () => {
  test("is final once ten builds stayed in it for two days", async ({ loading }) => {
    await stay(loading, 9, "expired");
    expect(await update(loading)).toMatchObject({ gained: [] });
    await loading.load("build", [wireBuild("x", { state: " Expired", date: null })], {
      at: "2024-05-01T00:00:00.000Z",
    });
    await loading.load("build", [wireBuild("x", { state: " Expired", date: null })], {
      at: "2024-05-03T00:00:00.000Z",
    });
    expect(await update(loading, { isLearning: false })).toMatchObject({ gained: [] });
    expect(await update(loading)).toMatchObject({ gained: ["expired"] });
    expect(await openIds(loading)).toEqual([]);
    expect(await update(loading)).toMatchObject({ gained: [], lost: [] });
  });

  test("is not final where they stayed for less, where one left it, or where it is a known one", async ({
    loading,
  }) => {
    await stay(loading, 10, "quick", 47);
    await stay(loading, 11, "left");
    await stay(loading, 10, "installing");
    await loading.load("build", [wireBuild("left0", { state: "finished" })], {
      at: "2024-05-04T00:00:00.000Z",
    });
    expect(await update(loading)).toMatchObject({ gained: [] });
  });

  test("is final no more when one leaves it, and its builds are open again", async ({ loading }) => {
    await stay(loading, 10, "expired");
    const { isFinal } = await update(loading, { runId: 1 });
    loading.nextRun({ isFinal });
    await loading.load("build", [wireBuild("expired0", { state: "building" })], {
      at: "2024-05-05T00:00:00.000Z",
    });
    expect(await openIds(loading)).toEqual(["expired0"]);
    expect(await update(loading, { runId: 3 })).toMatchObject({ gained: [], lost: ["expired"] });
    expect(await openIds(loading)).toHaveLength(10);
    expect(await update(loading, { runId: 4 })).toMatchObject({ gained: [], lost: [] });
  });

  test("is not final because of old builds that were seen in it only once", async ({ loading }) => {
    const old = Array.from({ length: 12 }, (_, n) =>
      wireBuild(`${n}`, { state: "expired", date: "2024-01-01T00:00:00" }),
    );
    await loading.load("build", old, { at: "2024-05-01T00:00:00.000Z" });
    expect(await update(loading)).toMatchObject({ gained: [] });
  });

  test("has no meaning where it is longer than a word", async ({ loading }) => {
    await stay(loading, 10, "x".repeat(3000));
    expect(await update(loading)).toMatchObject({ gained: [], lost: [] });
  });
});
