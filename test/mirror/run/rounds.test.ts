/** A round of nights in which every build is read again, a part in each. */
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createHostPace } from "../../../src/mirror/api/host-pace.ts";
import type { BuildRecord } from "../../../src/resources/resources.ts";
import { findDatesInChange, findReadSince } from "../../../src/store/ledger/list-freshness.ts";
import { type ArrangedWorld, startArranged } from "../../support/arranged-builds.ts";
import { useMirrored } from "../../support/quick-world.ts";
import { wireBuild } from "../../support/wire-records.ts";

const DAY_MS = 86_400_000;
const DAYS = 4;
const BUILDS = 400;
const settings = { fullEveryDays: DAYS, pageSize: 20 };

/** A mirror of 400 builds in a world where nothing happens by itself. */
const startMirrored = useMirrored(
  (copyOf) => startArranged({ users: 2, projects: 4, versions: 4, files: 2, builds: BUILDS }, copyOf),
  async (quick) =>
    expect((await quick.sync({ settings })).summary).toMatchObject({ kind: "full", status: "succeeded" }),
);

async function night(quick: ArrangedWorld) {
  quick.world.advance(DAY_MS);
  quick.arranged.asked.length = 0;
  const { summary } = await quick.sync({ settings });
  expect(summary).toMatchObject({ kind: "incremental", status: "succeeded" });
  return {
    ...summary.resources.build,
    lists: quick.arranged.asked.filter((path) => path.startsWith("/api/v1/build/?")).length,
  };
}

const readSince = async ({ sql }: ArrangedWorld) => Date.parse((await findReadSince(sql, "build")) ?? "");

const later = (date: string | null, ms: number) =>
  date === null
    ? ""
    : new Date(Date.parse(`${date.slice(0, 19)}Z`) + ms).toISOString().slice(0, 19) + date.slice(19);

/** In days. */
const ageOf = (quick: ArrangedWorld, moment: number) => (quick.world.now().getTime() - moment) / DAY_MS;

describe("builds that are read again in rounds", () => {
  test("are all read within the days of a round, by even nights", { tags: ["long"] }, async () => {
    await using quick = await startMirrored();
    const began = quick.world.now().getTime();
    const lists: number[] = [];
    for (let at = 0; at < 2 * DAYS; at++) lists.push((await night(quick)).lists);
    // 400 builds are 23 pages that overlap by two, and the first one is the head's. A part has a fourth of them.
    expect(lists.reduce((sum, pages) => sum + pages, 0)).toBe(2 * (22 + DAYS));
    expect(Math.max(...lists)).toBeLessThanOrEqual(8);
    expect(await readSince(quick)).toBe(began + (DAYS + 1) * DAY_MS);
  });

  test("show an edit, and a deletion that a build with an old date hides", { tags: ["long"] }, async () => {
    await using quick = await startMirrored();
    const changed = new Set<string>();
    quick.arranged.arrange = (builds) => {
      for (const at of [3, 190, 390]) changed.add(builds[at]?.id ?? "");
      const gone = builds[240]?.id ?? "";
      quick.arranged.details.set(gone, new Response("", { status: 404 }));
      const { date } = builds[340] ?? {};
      const old = wireBuild("900001", { project: "/api/v1/project/1/", version: null, date });
      return builds
        .toSpliced(340, 0, old as unknown as BuildRecord)
        .filter(({ id }) => id !== gone)
        .map((build) => (changed.has(build.id) ? { ...build, error: "edited" } : build));
    };
    const found = { updated: 0, inserted: 0, deleted: 0 };
    for (let at = 0; at < DAYS; at++) {
      const { updated = 0, inserted = 0, deleted = 0 } = await night(quick);
      found.updated += updated;
      found.inserted += inserted;
      found.deleted += deleted;
    }
    expect(found).toEqual({ updated: 3, inserted: 1, deleted: 1 });
    const edited = await quick.sql`select from mirror.build_logs where error = 'edited'`;
    expect(edited).toHaveLength(3);
  });

  describe.each<[what: string, settings: typeof settings, (quick: ArrangedWorld) => void]>([
    [
      "of which one has no id",
      settings,
      ({ arranged }) => {
        arranged.arrange = (builds) =>
          builds.map((one, at) => (at === 190 ? { ...one, id: null as never } : one));
      },
    ],
    [
      "of which one cannot be rendered",
      settings,
      ({ arranged }) => {
        arranged.arrange = (builds) => {
          arranged.bad ??= builds[190]?.id ?? null;
          return builds;
        };
      },
    ],
    [
      "of which more than a page have one date",
      settings,
      ({ arranged }) => {
        arranged.arrange = (builds) =>
          builds.map((one, at) => (at > 180 && at < 220 ? { ...one, date: builds[180]?.date ?? "" } : one));
      },
    ],
    [
      "of a service that gives smaller pages than are asked for",
      { ...settings, pageSize: 200 },
      ({ arranged }) => {
        arranged.cap = 20;
      },
    ],
  ])("%s", (_, settings, trouble) => {
    test("come round in time, and an edit behind it is met", { tags: ["long"] }, async () => {
      await using quick = await startMirrored();
      trouble(quick);
      const { arrange } = quick.arranged;
      quick.arranged.arrange = (builds) =>
        arrange(builds).map((one, at) => (at === 280 ? { ...one, error: "edited" } : one));
      for (let at = 0; at < DAYS; at++) {
        quick.world.advance(DAY_MS);
        const { summary } = await quick.sync({ settings });
        expect(summary.kind).toBe("incremental");
        expect(summary.resources.build?.round?.records).toBeGreaterThan(0);
      }
      expect(ageOf(quick, await readSince(quick))).toBeLessThan(DAYS);
      const [row] = await quick.sql`select count(*) as edited from mirror.build_logs where error = 'edited'`;
      expect(row).toEqual({ edited: 1 });
    });
  });

  /** A service that was restored from a backup gave the ids of its newest builds again, `given` of them; the others are gone. */
  const restore = (quick: ArrangedWorld, lost: number, given: number, added: number) => {
    const from = quick.world.now().getTime() - 3_600_000;
    const dateAt = (at: number) => new Date(from - at * 7_000).toISOString().slice(0, 19);
    quick.arranged.arrange = (builds) => {
      const kept = builds.slice(lost);
      for (const { id } of builds.slice(0, lost - given))
        quick.arranged.details.set(id, new Response("", { status: 404 }));
      const again = builds.slice(lost - given, lost);
      const highest = Math.max(...builds.map(({ id }) => Number(id)));
      const next = Array.from({ length: added }, (_, at) => ({
        ...(kept[0] as BuildRecord),
        id: `${highest + added - at}`,
      }));
      return [...next, ...again].map((build, at) => ({ ...build, date: dateAt(at) })).concat(kept);
    };
  };
  const lives = ({ sql }: ArrangedWorld) => sql<{ life: number; builds: number }[]>`
    select life, count(*)::int as builds from mirror.builds where deleted_at is null group by life order by life`;

  test("are those that the list shows where it was restored, and no others", { tags: ["long"] }, async () => {
    await using quick = await startMirrored();
    await night(quick);
    quick.world.advance(DAY_MS);
    restore(quick, 100, 60, 0);
    // By its pace, the list is too long for a night.
    const pace = createHostPace({ ratePerSecond: 0, clock: systemClock });
    const slow = { pace, settings: { ...settings, ratePerSecond: 0.001 } };
    const round = await quick.watch(slow);
    expect(round.summary.resources.build).toMatchObject({
      updated: 60,
      reason: expect.stringContaining("restored from a backup"),
    });
    const { summary } = await quick.sync(slow);
    expect(summary).toMatchObject({ kind: "incremental", status: "partial" });
    const reason = expect.stringMatching(/^40 builds have been missing/);
    expect(summary.resources.build).toMatchObject({ walk: "whole", reason });
    expect(await lives(quick)).toEqual([
      { life: 1, builds: BUILDS - 60 },
      { life: 2, builds: 60 },
    ]);
    quick.world.advance(DAY_MS);
    expect((await quick.sync({ ...slow, kind: "full", allowMassDelete: true })).summary.status).toBe(
      "succeeded",
    );
    expect(await lives(quick)).toEqual([
      { life: 1, builds: BUILDS - 100 },
      { life: 2, builds: 60 },
    ]);
  });

  test("are all read at once where the service changes its time zone, which the run says", {
    tags: ["long"],
  }, async () => {
    await using quick = await startMirrored();
    await night(quick);
    let gone = "";
    quick.arranged.arrange = (builds) => {
      gone ||= builds[200]?.id ?? "";
      quick.arranged.details.set(gone, new Response("", { status: 404 }));
      return builds
        .filter(({ id }) => id !== gone)
        .map((build) => ({ ...build, date: later(build.date, 5 * 3_600_000) }));
    };
    const round = await quick.watch({ settings });
    expect(round.summary.resources.build).toMatchObject({ walk: "not_whole", updated: 0 });
    quick.world.advance(DAY_MS);
    const { summary } = await quick.sync({ settings });
    expect(summary).toMatchObject({
      status: "succeeded",
      warnings: [expect.stringContaining("moved by 5 h")],
    });
    expect(summary.resources.build).toMatchObject({ walk: "whole", deleted: 1, updated: BUILDS - 1 });
    quick.world.advance(DAY_MS);
    expect((await quick.sync({ settings })).summary).toMatchObject({ status: "succeeded" });
  });

  test("have dates in change where that reading broke off, until a sync has read them all", {
    tags: ["long"],
  }, async () => {
    await using quick = await startMirrored();
    const { arranged } = quick;
    arranged.arrange = (builds) =>
      builds.map((build) => ({ ...build, date: later(build.date, 5 * 3_600_000) }));
    arranged.fails = (path) => /^\/api\/v1\/build\/.*offset=2\d\d/.test(path);
    quick.world.advance(DAY_MS);
    expect((await quick.sync({ settings })).summary.status).not.toBe("succeeded");
    const since = quick.world.now().toISOString();
    const inChange = {
      since: expect.stringContaining(since.slice(0, 10)),
      detail: `moved by 5 h forward at ${since}`,
    };
    expect(await findDatesInChange(quick.sql)).toEqual(inChange);
    await quick.watch({ settings });
    expect(await findDatesInChange(quick.sql)).toEqual(inChange);
    arranged.fails = () => false;
    quick.world.advance(DAY_MS);
    const { summary } = await quick.sync({ settings });
    expect(summary).toMatchObject({ kind: "full", status: "succeeded" });
    expect(await findDatesInChange(quick.sql)).toBeNull();
  });

  test("end their round where only the proof of its end was left", { tags: ["long"] }, async () => {
    await using quick = await startMirrored();
    // A full page shows no end.
    const large = { ...settings, pageSize: BUILDS };
    for (let at = 0; at < DAYS; at++) {
      quick.world.advance(DAY_MS);
      expect((await quick.sync({ settings: large })).summary.status).toBe("succeeded");
    }
    expect(await quick.sql`select 1 from sync.rounds where checkpoint is null`).toHaveLength(1);
  });

  test("have no other zone where the date of one known build among new ones was corrected", async () => {
    await using quick = await startMirrored();
    quick.world.triggerBuilds(19);
    quick.arranged.arrange = (builds) =>
      builds.map((build, at) => (at === 19 ? { ...build, date: later(build.date, 1000) } : build));
    const { summary } = await quick.watch({ settings });
    expect(summary.resources.build).toMatchObject({ walk: "head", inserted: 19, updated: 1 });
  });
});
