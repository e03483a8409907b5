import { describe, expect } from "vitest";
import { type Loading, setUpLoading, loadingTest as test } from "../../support/loading.ts";
import { wireBuild } from "../../support/wire-records.ts";

const DATE = "2024-05-15T11:00:00.123456";
const CREATED = "2024-05-15 11:00:00.123456+00";

async function see(loading: Loading, at: string, over: Record<string, unknown>, askedAt = at) {
  const build = wireBuild("1", { date: DATE, ...over });
  const { transitions } = await loading.load("build", [build], { at, askedAt });
  return transitions;
}

/** The build's detail answers that it is not there. */
const miss = ({ loader }: Loading, at: string) =>
  loader.vanish([{ id: "1", askedAt: at, observedAt: at, request: "/api/v1/build/1/" }]);

/** Midday and so many minutes, as Postgres writes it. */
const noon = (minutes = 0) => `2024-05-15 12:${String(minutes).padStart(2, "0")}:00+00`;
const row = (seq: number, from: string | null, to: string, not_before: string, not_after: string) => {
  return { seq, from, to, not_before, not_after, anomaly: null };
};

const stored = ({ sql }: Loading) => sql`
  select seq, from_state as "from", to_state as "to", not_before, not_after, anomaly
  from mirror.build_transitions order by build_id, seq`;

describe("a build's states", () => {
  test("are kept from the first sight on, whichever it is", async ({ loading }) => {
    const states = ["triggered", "building", "finished", "cloning", ""];
    const builds = states.map((state, id) => wireBuild(String(id), { date: DATE, state }));
    await loading.load("build", builds, { at: "2024-05-15T12:00:00.000Z" });
    expect(await stored(loading)).toEqual(states.map((state) => row(1, null, state, CREATED, noon())));
  });

  test("are entered between their predecessor's last sight and their own first", async ({ loading }) => {
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "triggered" });
    await see(loading, "2024-05-15T12:01:00.000Z", { state: "building" });
    await see(loading, "2024-05-15T12:02:00.000Z", { state: "finished", success: false });
    expect(await stored(loading)).toEqual([
      row(1, null, "triggered", CREATED, noon()),
      row(2, "triggered", "building", noon(), noon(1)),
      row(3, "building", "finished", noon(1), noon(2)),
    ]);
  });

  test("are kept one by one when pages that are loaded together show several", async ({ loading }) => {
    const states = ["triggered", "building", "building", "finished"];
    const pages = states.map((state) => [wireBuild("1", { date: DATE, state })]);
    const counts = await loading.loadPages("build", pages);
    expect(counts).toMatchObject({ inserted: 1, updated: 0, transitions: 3 });
    expect((await stored(loading)).map(({ from, to }) => [from, to])).toEqual([
      [null, "triggered"],
      ["triggered", "building"],
      ["building", "finished"],
    ]);
    expect(await loading.sql`select 1 from mirror.changes`).toHaveLength(2);
  });

  test("are kept one by one also where a page has to be loaded record by record", async ({ loading }) => {
    await loading.sql`alter table mirror.builds add check (id <> '2')`;
    const states = ["triggered", "building", "finished"];
    const pages = states.map((state) => [wireBuild("1", { date: DATE, state }), wireBuild("2")]);
    const counts = await loading.loadPages("build", pages);
    expect(counts).toMatchObject({ inserted: 1, updated: 0, transitions: 3, quarantined: 1 });
    expect((await stored(loading)).map(({ to }) => to)).toEqual(states);
  });

  test("may be skipped, unknown or none, and are kept as they are", async ({ loading }) => {
    const states = ["triggered", "cloning", null, "finished"];
    for (const [minute, state] of states.entries())
      await see(loading, `2024-05-15T12:0${minute}:00.000Z`, { state });
    expect((await stored(loading)).map(({ from, to, anomaly }) => [from, to, anomaly])).toEqual(
      states.map((state, at) => [states[at - 1] ?? null, state, null]),
    );
  });

  test("add nothing when the state is the same though the build changed", async ({ loading }) => {
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "building" });
    expect(await see(loading, "2024-05-15T12:01:00.000Z", { state: "building", output: "more" })).toBe(0);
    expect(await stored(loading)).toHaveLength(1);
  });

  test.each([
    ["a reply that was asked for before", "2024-05-15T12:00:50.000Z"],
    ["a reply out of a cache", "2024-05-15T11:00:00.000Z"],
  ])("do not move backwards by %s", async (_, askedAt) => {
    await using loading = await setUpLoading();
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "building" });
    await see(loading, "2024-05-15T12:01:00.000Z", { state: "finished" });
    for (const begin of [() => {}, loading.nextRun]) {
      begin();
      const build = wireBuild("1", { date: DATE, state: "building" });
      const counts = await loading.load("build", [build], { at: "2024-05-15T12:01:20.000Z", askedAt });
      expect(counts).toMatchObject({ transitions: 0, unchanged: 1, stale: 1 });
    }
    expect(await loading.sql`select state from mirror.builds`).toEqual([{ state: "finished" }]);
  });

  test("seen again are entered after the last request that showed the one before", async ({ loading }) => {
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "triggered" });
    loading.nextRun();
    await see(loading, "2024-05-15T12:05:02.000Z", { state: "triggered" }, "2024-05-15T12:05:00.000Z");
    loading.nextRun();
    await see(loading, "2024-05-15T12:10:00.000Z", { state: "building" });
    const [, building] = await loading.sql`select * from mirror.build_transitions order by seq`;
    const request = "/api/v1/build/?page=0";
    expect(building).toMatchObject({
      not_before: noon(5),
      not_after: noon(10),
      rule: "last_seen",
      run_id: 3,
      request,
      previous_run_id: 2,
      previous_request: request,
    });
  });

  test("are recorded whatever the service's clock shows", async () => {
    await using loading = await setUpLoading({
      clockAhead: () => ({ minMs: 7975 * 31_556_952_000, maxMs: 7975 * 31_556_952_000 + 500 }),
    });
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "triggered" });
    expect(await stored(loading)).toMatchObject([{ anomaly: "clock" }]);
  });

  test.each<[string, { minMs: number; maxMs: number } | null, string, string | null]>([
    ["is not known", null, "2024-05-15 11:59:59.5+00", null],
    ["may be ours", { minMs: -400, maxMs: 600 }, "2024-05-15 11:59:59.5+00", null],
    ["is behind ours", { minMs: -9000, maxMs: -8000 }, "2024-05-15 11:59:59.5+00", null],
    ["is a little ahead", { minMs: 100, maxMs: 900 }, "2024-05-15 11:59:58.6+00", null],
    ["is ahead", { minMs: 5000, maxMs: 6000 }, "2024-05-15 11:59:53.5+00", "clock"],
  ])("at first sight begin at the date on our clock, when the service's %s", async (_, clock, not_before, anomaly) => {
    await using loading = await setUpLoading({ clockAhead: () => clock });
    await see(loading, "2024-05-15T12:00:00.000Z", { date: "2024-05-15T11:59:59.500000" });
    expect(await stored(loading)).toMatchObject([{ not_before, anomaly }]);
  });
});

describe("a reply of a cache from before the run", () => {
  test.each([
    ["older than what an earlier run saw changes nothing", "2024-05-15T11:50:00.000Z", 0],
    ["newer than that counts", "2024-05-15T12:05:00.000Z", 1],
  ])("%s", async (_what, askedAt, transitions) => {
    await using loading = await setUpLoading();
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "building" });
    loading.nextRun({ startedAt: new Date("2024-05-15T12:30:00Z") });
    expect(await see(loading, "2024-05-15T12:31:00.000Z", { state: "cloning" }, askedAt)).toBe(transitions);
    const [open] = await loading.sql`select seen_at from sync.open_builds`;
    expect(open?.seen_at).toBe(transitions === 0 ? noon() : noon(5));
  });
});

describe("an open build whose detail is gone", () => {
  test("vanishes, with bounds like any state, and is not deleted by it", async ({ loading }) => {
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "building" });
    expect(await miss(loading, "2024-05-15T12:01:00.000Z")).toBe(1);
    expect(await miss(loading, "2024-05-15T12:05:00.000Z")).toBe(0);
    expect((await stored(loading))[1]).toEqual(row(2, "building", "vanished", noon(), noon(1)));
    const [build] = await loading.sql`select state, deleted_at from mirror.builds`;
    expect(build).toEqual({ state: "building", deleted_at: null });
    const [open] = await loading.sql`select seen_at, vanished_at from sync.open_builds`;
    expect(open).toEqual({ seen_at: noon(5), vanished_at: noon(1) });
  });
});

describe("open builds are remembered", () => {
  const open = ({ sql }: Loading) =>
    sql`select build_id, since, seen_at from sync.open_builds order by build_id`;

  test("from their date on at first sight, and from the sight of each move on", async ({ loading }) => {
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "triggered" });
    await see(loading, "2024-05-15T12:01:00.000Z", { state: "triggered" });
    expect(await open(loading)).toEqual([{ build_id: "1", since: CREATED, seen_at: noon(1) }]);
    await see(loading, "2024-05-15T12:02:00.000Z", { state: "building" });
    expect(await open(loading)).toEqual([{ build_id: "1", since: noon(2), seen_at: noon(2) }]);
  });

  test("also while their state is gone, in which each sight counts", async ({ loading }) => {
    await loading.load("build", [wireBuild("1", { state: "building" })]);
    await loading.load("build", [wireBuild("1", { state: null })]);
    const [gone] = await open(loading);
    await loading.load("build", [wireBuild("1", { state: null })]);
    const [still] = await open(loading);
    expect(still?.seen_at).not.toBe(gone?.seen_at);
    await loading.load("build", [wireBuild("1", { state: "building" })]);
    expect(await open(loading)).toHaveLength(1);
  });

  test("until they end, whichever their state, and without one", async ({ loading }) => {
    const states = ["triggered", "building", "finished", "cloning", null, "", " Cancelled ", "error"];
    const builds = states.map((state, id) => wireBuild(String(id), { state }));
    await loading.load("build", builds);
    expect((await open(loading)).map(({ build_id }) => build_id)).toEqual(["0", "1", "3", "4", "5"]);
    await loading.load(
      "build",
      builds.map((build) => ({ ...build, state: "finished" })),
    );
    expect(await open(loading)).toEqual([]);
  });
});

/** How dates of America/Chicago are read: as the moment from which the build may be there. */
const CHICAGO: [date: string, not_before: string, which: string, anomaly?: string][] = [
  ["2024-01-15T12:00:00", "2024-01-15 18:00:00+00", "winter"],
  ["2024-07-15T12:00:00", "2024-07-15 17:00:00+00", "summer"],
  ["2024-03-10T01:59:59.999999", "2024-03-10 07:59:59.999999+00", "before the skipped hour"],
  ["2024-03-10T02:30:00", "2024-03-10 07:30:00+00", "in it: the earlier reading", "skipped_hour"],
  ["2024-03-10T03:00:00", "2024-03-10 08:00:00+00", "behind the skipped hour"],
  ["2024-11-03T00:59:59.999999", "2024-11-03 05:59:59.999999+00", "before the repeated hour"],
  ["2024-11-03T01:30:00", "2024-11-03 06:30:00+00", "in it: the first of the two", "repeated_hour"],
  ["2024-11-03T02:00:00", "2024-11-03 08:00:00+00", "behind the repeated hour"],
];

test("a date in a zone with summer time is read as the earliest moment that it may mean", async () => {
  await using loading = await setUpLoading({ sourceTimezone: "America/Chicago" });
  const builds = CHICAGO.map(([date], id) => wireBuild(String(id), { date }));
  await loading.load("build", builds, { at: "2025-01-01T00:00:00.000Z" });
  expect(await stored(loading)).toMatchObject(
    CHICAGO.map(([, not_before, , anomaly = null]) => ({ not_before, anomaly })),
  );
});
