import { describe, expect } from "vitest";
import { createLocalDates } from "../../../src/simulate/local-dates.ts";
import { type Loading, setUpLoading, loadingTest as test } from "../../support/loading.ts";
import { fingerprint } from "../../support/mirror-rows.ts";
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
  const STATES = ["triggered", "building", "finished", "cloning", ""];
  test.for(STATES)("are kept from the first sight on, whichever it is: %j", async (state, { loading }) => {
    await see(loading, "2024-05-15T12:00:00.000Z", { state });
    expect(await stored(loading)).toEqual([row(1, null, state, CREATED, noon())]);
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

  test.for([
    ["may be skipped", ["triggered", "finished"], [null, null]],
    [
      "may move backwards",
      ["finished", "triggered", "building", "triggered"],
      [null, "backward", null, "backward"],
    ],
    ["may be unknown, or none", ["triggered", "cloning", null, "building"], [null, null, null, null]],
  ] as const)("%s, and are kept as they are, with the anomaly", async ([, states, anomalies], {
    loading,
  }) => {
    for (const [minute, state] of states.entries())
      await see(loading, `2024-05-15T12:0${minute}:00.000Z`, { state });
    expect((await stored(loading)).map(({ seq, from, to, anomaly }) => [seq, from, to, anomaly])).toEqual(
      states.map((state, at) => [at + 1, states[at - 1] ?? null, state, anomalies[at]]),
    );
  });

  test("add nothing when the state cannot be read: the build keeps the one that it had", async ({
    loading,
  }) => {
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "building" });
    expect(await see(loading, "2024-05-15T12:01:00.000Z", { state: 7 })).toBe(0);
    expect([...(await loading.sql`select state from mirror.builds`)]).toEqual([{ state: "building" }]);
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

  test("of a build without a date begin at any time before", async ({ loading }) => {
    await see(loading, "2024-05-15T12:00:00.000Z", { date: null });
    await see(loading, "2024-05-15T12:01:00.000Z", { date: null, state: "building" });
    expect((await stored(loading)).map(({ not_before, anomaly }) => [not_before, anomaly])).toEqual([
      ["-infinity", "no_date"],
      [noon(), null],
    ]);
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

  test("may be entered while the reply that showed their predecessor is on its way", async ({ loading }) => {
    await see(loading, "2024-05-15T12:00:30.000Z", { state: "triggered" }, "2024-05-15T12:00:00.000Z");
    await see(loading, "2024-05-15T12:01:30.000Z", { state: "building" }, "2024-05-15T12:01:00.000Z");
    const building = { not_before: noon(), not_after: "2024-05-15 12:01:30+00" };
    expect((await stored(loading))[1]).toMatchObject(building);
  });

  test("of a build dated in the future begin at any time before: an anomaly", async ({ loading }) => {
    await see(loading, "2024-05-15T12:00:00.000Z", { date: "9999-12-31T23:59:59.999999" });
    const bounds = { not_before: "-infinity", not_after: noon() };
    expect(await stored(loading)).toMatchObject([{ ...bounds, anomaly: "future_date" }]);
  });

  test("begin after their predecessor began when our clock went back in between", async ({ loading }) => {
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "triggered" });
    loading.nextRun();
    await see(loading, "2024-05-15T11:30:00.000Z", { state: "building" });
    loading.nextRun();
    await see(loading, "2024-05-15T10:30:00.000Z", { state: "finished" });
    expect((await stored(loading)).slice(1)).toMatchObject([
      { not_before: CREATED, not_after: "2024-05-15 11:30:00+00", anomaly: "clock" },
      { not_before: "-infinity", not_after: "2024-05-15 10:30:00+00", anomaly: "clock" },
    ]);
  });

  test("begin after the first one began, not by the clock that went back", async ({ loading }) => {
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "triggered" });
    await see(loading, "2024-05-15T12:20:00.000Z", { state: "building" });
    loading.nextRun();
    await see(loading, "2024-05-15T12:10:00.000Z", { state: "finished" });
    expect((await stored(loading))[2]).toMatchObject({ not_before: CREATED, anomaly: "clock" });
  });

  test("begin earlier by as much as our clock went back since their predecessor was seen, where the service's tells", async () => {
    await using loading = await setUpLoading({ clockAhead: () => ({ minMs: -600_400, maxMs: -599_700 }) });
    await see(loading, "2024-05-15T12:10:00.000Z", { state: "triggered" });
    await loading.sql`
      insert into sync.runs (kind, status, started_at, heartbeat_at, pid, host, clock_ahead_min_ms, clock_ahead_max_ms)
      values ('watch', 'succeeded', now(), now(), 1, '', -600400, -599700)`;
    loading.nextRun({ clockAhead: () => ({ minMs: -200, maxMs: 300 }) });
    // 20 minutes later, by a clock that was 10 minutes ahead.
    await see(loading, "2024-05-15T12:20:00.000Z", { state: "building" });
    const building = { not_before: "2024-05-15 11:59:59.3+00", anomaly: "clock" };
    expect((await stored(loading))[1]).toMatchObject(building);
  });

  test.each([
    ["surely", { minMs: -120_400, maxMs: -119_700 }, "2024-05-15 11:57:59.6+00"],
    ["perhaps", { minMs: -700, maxMs: 200 }, "2024-05-15 12:00:00+00"],
  ])("hold by the service's clock too, where ours was %s ahead at both sights", async (_, clock, not_before) => {
    await using loading = await setUpLoading({ clockAhead: () => clock });
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "triggered" });
    loading.nextRun({ clockAhead: () => clock });
    await see(loading, "2024-05-15T12:01:00.000Z", { state: "building" });
    const building = { not_before, not_after: "2024-05-15 12:01:00+00", anomaly: null };
    expect((await stored(loading))[1]).toMatchObject(building);
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

  test("dated a moment after they came begin earlier by as much as the service's clock may be ahead", async () => {
    await using loading = await setUpLoading({ clockAhead: () => ({ minMs: -300, maxMs: 700 }) });
    await see(loading, "2024-05-15T12:00:00.000Z", { date: "2024-05-15T12:00:00.200000" });
    const bound = { not_before: "2024-05-15 11:59:59.5+00", anomaly: "clock" };
    expect(await stored(loading)).toMatchObject([bound]);
  });

  test("of all kinds never begin after they were seen", async () => {
    await using loading = await setUpLoading({
      sourceTimezone: "America/Chicago",
      clockAhead: () => ({ minMs: 2000, maxMs: 3000 }),
    });
    const named = [
      [null, "no_date"],
      ["9999-12-31T23:59:59", "future_date"],
      ["0001-01-01T00:00:00", "clock"],
      ["2024-11-03T01:30:00", "repeated_hour, clock"],
      ["2024-03-10T02:30:00", "skipped_hour, clock"],
    ];
    for (const [at, state] of [
      ["2024-11-03T06:31:00Z", "triggered"],
      ["2024-11-03T07:31:00Z", "building"],
      ["2024-03-10T07:40:00Z", "finished"],
    ] as const) {
      const builds = named.map(([date], id) => wireBuild(String(id), { date, state }));
      await loading.load("build", builds, { at });
      loading.nextRun();
    }
    const wrong = await loading.sql`select * from mirror.build_transitions where not_before > not_after`;
    expect(wrong).toEqual([]);
    const first =
      await loading.sql`select anomaly from mirror.build_transitions where seq = 1 order by build_id`;
    expect(first).toEqual(named.map(([, anomaly]) => ({ anomaly })));
  });

  test("are not written twice when the same is seen again", async ({ loading }) => {
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "triggered" });
    await see(loading, "2024-05-15T12:01:00.000Z", { state: "building" });
    const before = await fingerprint(loading.sql);
    for (const at of ["2024-05-15T12:01:00.000Z", "2024-05-15T12:05:00.000Z"])
      expect(await see(loading, at, { state: "building" })).toBe(0);
    expect(await fingerprint(loading.sql)).toEqual(before);
  });

  test("do not change when all that was observed is replayed", async ({ loading }) => {
    const replay = async () => {
      await see(loading, "2024-05-15T12:00:00.000Z", { state: "triggered" });
      await see(loading, "2024-05-15T12:01:00.000Z", { state: "building" });
      await see(loading, "2024-05-15T12:02:00.000Z", { state: "building", output: "more" });
      await miss(loading, "2024-05-15T12:03:00.000Z");
      await see(loading, "2024-05-15T12:04:00.000Z", { state: "finished" });
    };
    await replay();
    const before = await fingerprint(loading.sql);
    await replay();
    expect(await fingerprint(loading.sql)).toEqual(before);
    expect(await loading.sql`select * from sync.open_builds`).toEqual([]);
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
  test("does not come back by what was seen before", async ({ loading }) => {
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "building" });
    await miss(loading, "2024-05-15T12:01:00.000Z");
    expect(await see(loading, "2024-05-15T12:00:00.000Z", { state: "building" })).toBe(0);
    loading.nextRun();
    const late = ["2024-05-15T12:02:00.000Z", { state: "building" }, "2024-05-15T12:00:30.000Z"] as const;
    expect(await see(loading, ...late)).toBe(0);
  });

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

  test.each(["building", "finished"])("comes back as %s though nothing else of it changed", async (state) => {
    await using loading = await setUpLoading();
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "building" });
    await miss(loading, "2024-05-15T12:01:00.000Z");
    expect(await see(loading, "2024-05-15T12:02:00.000Z", { state })).toBe(1);
    const back = { from: "vanished", to: state, not_before: noon(), anomaly: null };
    expect((await stored(loading))[2]).toMatchObject(back);
    expect(await loading.sql`select vanished_at from sync.open_builds`).toEqual(
      state === "building" ? [{ vanished_at: null }] : [],
    );
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

  test("as they were seen by the later run, though our clock was set back before it", async ({ loading }) => {
    await see(loading, "2024-05-15T12:30:00.000Z", { state: "triggered" });
    loading.nextRun();
    await see(loading, "2024-05-15T11:35:00.000Z", { state: "triggered" });
    expect(await open(loading)).toMatchObject([{ seen_at: "2024-05-15 11:35:00+00" }]);
    loading.nextRun();
    await see(loading, "2024-05-15T11:40:00.000Z", { state: "building" });
    expect((await stored(loading))[1]).toMatchObject({ not_before: "2024-05-15 11:35:00+00", anomaly: null });
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
});

describe("dates in America/Chicago", () => {
  test.each<[string, string, string, (string | null)?]>([
    ["2024-01-15T12:00:00", "2024-01-15 18:00:00+00", "winter"],
    ["2024-07-15T12:00:00", "2024-07-15 17:00:00+00", "summer"],
    ["2024-03-10T01:59:59.999999", "2024-03-10 07:59:59.999999+00", "before the skipped hour"],
    ["2024-03-10T02:30:00", "2024-03-10 07:30:00+00", "in it: the earlier reading", "skipped_hour"],
    ["2024-03-10T03:00:00", "2024-03-10 08:00:00+00", "behind the skipped hour"],
    ["2024-11-03T00:59:59.999999", "2024-11-03 05:59:59.999999+00", "before the repeated hour"],
    ["2024-11-03T01:30:00", "2024-11-03 06:30:00+00", "in it: the first of the two", "repeated_hour"],
    ["2024-11-03T02:00:00", "2024-11-03 08:00:00+00", "behind the repeated hour"],
  ])("%s is %s, %s", async (date, not_before, _, anomaly = null) => {
    await using loading = await setUpLoading({ sourceTimezone: "America/Chicago" });
    await see(loading, "2025-01-01T00:00:00.000Z", { date });
    expect(await stored(loading)).toMatchObject([{ not_before, anomaly }]);
  });

  test("never come out later than the moment that the service meant", async () => {
    await using loading = await setUpLoading({ sourceTimezone: "America/Chicago" });
    const dates = createLocalDates("America/Chicago");
    const created = Array.from({ length: 96 }, (_, step) => Date.UTC(2024, 10, 2, 18) + step * 900_000);
    const builds = created.map((at, id) =>
      wireBuild(String(id), { date: new Date(dates.toLocal(at * 1000) / 1000).toISOString().slice(0, 19) }),
    );
    await loading.load("build", builds, { at: "2025-01-01T00:00:00.000Z" });
    const rows = await loading.sql`select build_id, not_before from mirror.build_transitions`;
    expect(rows).toHaveLength(96);
    const isLate = (one: (typeof rows)[number]) => Date.parse(one.not_before) > Number(created[one.build_id]);
    expect(rows.filter(isLate)).toEqual([]);
  });
});
