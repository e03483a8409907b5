/** What an incremental run makes of a build that comes where nobody looks, and of a clock that stood wrong. */
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { exitCodeOfRun } from "../../../src/mirror/run/close-run.ts";
import type { BuildRecord } from "../../../src/resources/resources.ts";
import { findListFreshness } from "../../../src/store/ledger/list-freshness.ts";
import { findCountGaps, findDeficit, findHeadFacts } from "../../../src/store/ledger/run-ledger.ts";
import { type ArrangedWorld, startArranged } from "../../support/arranged-builds.ts";
import { type QuickWorld, useMirrored } from "../../support/quick-world.ts";
import { wireBuild } from "../../support/wire-records.ts";

const DAY_MS = 86_400_000;
const SETTINGS = { pageSize: 100 };

const startMirrored = useMirrored(
  (copyOf) => startArranged({ users: 2, projects: 4, versions: 4, files: 2, builds: 1500 }, copyOf),
  async (quick) => {
    expect((await quick.sync({ kind: "full", settings: SETTINGS })).summary.status).toBe("succeeded");
    quick.world.advance(60_000);
  },
);

const made = (id: number, date: string | undefined) =>
  wireBuild(String(id), { project: "/api/v1/project/1/", version: null, date }) as unknown as BuildRecord;

/** Inserts builds at place 1,200, dated as the one there, and deletes builds from there. Fills in the ids of the deleted ones. */
function change({ arranged }: ArrangedWorld, came: number, went: number): string[] {
  const gone: string[] = [];
  arranged.details.clear();
  arranged.arrange = (builds) => {
    gone.splice(0, gone.length, ...builds.slice(1200, 1200 + went).map(({ id }) => id));
    for (const id of gone) arranged.details.set(id, new Response("", { status: 404 }));
    const { date } = builds[1200] ?? {};
    return builds.toSpliced(1200, went, ...DEEP.slice(0, came).map((id) => made(id, date)));
  };
  return gone;
}

const DEEP = [900_001, 900_002, 900_003, 900_004, 900_005];

async function liveIds({ sql }: QuickWorld): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`select id from mirror.builds where deleted_at is null`;
  return new Set(rows.map(({ id }) => id));
}

const lastGoodAt = async ({ sql }: QuickWorld) =>
  (await findListFreshness(sql)).find(({ resource }) => resource === "build")?.finishedAt;

const hasDeep = (ids: Set<string>) => DEEP.filter((id) => ids.has(String(id))).length;

describe("what comes and goes at place 1,200 of 1,500", () => {
  test.for([
    ["sync", 5, 0],
    ["sync", 0, 3],
    ["watch", 4, 2],
  ] as const)("is found by the next %s: %i and %i", { tags: ["long"] }, async ([kind, came, went]) => {
    await using quick = await startMirrored();
    const gone = change(quick, came, went);
    const { requests } = await lookAgain(quick, kind, came, went);
    // The head twice, the root and the schemas of a sync, and the details of what is gone.
    expect(requests).toBeLessThan(22 + went);
    const live = await liveIds(quick);
    expect(gone.filter((id) => live.has(id))).toEqual([]);
    expect(hasDeep(live)).toBe(came);
  });

  async function lookAgain(quick: ArrangedWorld, kind: "sync" | "watch", inserted: number, deleted: number) {
    const before = await lastGoodAt(quick);
    quick.world.advance(60_000);
    const result =
      kind === "watch"
        ? await quick.watch({ settings: SETTINGS })
        : await quick.sync({ kind: "incremental", settings: SETTINGS });
    expect(result.summary).toMatchObject({
      status: "succeeded",
      unfinished: { deficit: 0, deletions: 0 },
      resources: { build: { walk: "head", inserted, deleted } },
    });
    expect(exitCodeOfRun(result)).toBe(0);
    expect(await lastGoodAt(quick)).not.toBe(before);
    return result.summary;
  }

  test("costs a round less than ten requests where it is one deletion", { tags: ["long"] }, async () => {
    await using quick = await startMirrored();
    change(quick, 0, 1);
    expect((await lookAgain(quick, "watch", 0, 1)).requests).toBeLessThan(10);
    expect((await lookAgain(quick, "watch", 0, 0)).requests).toBe(1);
  });

  test("is no whole list where the head comes empty when it is read again", { tags: ["long"] }, async () => {
    await using quick = await startMirrored();
    change(quick, 3, 4);
    const { arranged } = quick;
    const { arrange } = arranged;
    const isHead = (request: string) => !/offset=[1-9]/.test(request);
    arranged.asked.length = 0;
    arranged.arrange = (builds) => {
      const isEmpty = isHead(arranged.asked.at(-1) ?? "") && arranged.asked.filter(isHead).length > 1;
      return isEmpty ? [] : arrange(builds);
    };
    const before = await lastGoodAt(quick);
    const reason = expect.stringMatching(/should hold the \d+ records that are known, but came empty/);
    const build = { walk: "not_whole", deleted: 0, reason };
    expect((await quick.watch({ settings: SETTINGS })).summary).toMatchObject({
      status: "partial",
      resources: { build },
    });
    expect(await lastGoodAt(quick)).toBe(before);
    // Those that the search found, and no other.
    expect(await quick.sql`select record_id from sync.missing_records`).toHaveLength(4);
  });
});

describe("a count that is five too high", () => {
  const reason = "build list: upstream counts 5 builds more than are here: a full walk is due";

  async function startTooHigh() {
    const quick = await startMirrored();
    quick.arranged.counted = 5;
    return quick;
  }

  test("makes an incremental run that searched partial, and the next full", { tags: ["long"] }, async () => {
    await using quick = await startTooHigh();
    expect((await quick.sync({ kind: "incremental", settings: SETTINGS })).summary).toMatchObject({
      status: "partial",
      resources: { build: { walk: "head", reason } },
    });
    // Asked for again, it is as partial: the new count is no new expectation.
    const again = await quick.sync({ kind: "incremental", settings: SETTINGS });
    expect(again.summary).toMatchObject({ status: "partial", resources: { build: { reason } } });
    // A round does not search again for what a search did not settle.
    const round = await quick.watch({ settings: SETTINGS });
    expect(round.summary).toMatchObject({ status: "partial", requests: 1, resources: { build: { reason } } });
    const next = await quick.sync({ settings: SETTINGS });
    expect(next.summary).toMatchObject({ kind: "full", status: "succeeded" });
    const settled = await quick.watch({ settings: SETTINGS });
    expect(settled.summary).toMatchObject({ status: "succeeded", requests: 1 });
    // Behind the wrong count a real difference is found as ever.
    change(quick, 2, 1);
    const found = await quick.watch({ settings: SETTINGS });
    const resources = { build: { inserted: 2, deleted: 1 } };
    expect(found.summary).toMatchObject({ status: "succeeded", resources });
  });

  test.for(["full", "watch"] as const)("outlasts a walk that breaks off (%s)", {
    tags: ["long"],
  }, async (kind) => {
    await using quick = await startTooHigh();
    await quick.sync({ kind: "incremental", settings: SETTINGS });
    quick.arranged.fails = (request) => request.startsWith("/api/v1/build/");
    const options = { settings: SETTINGS, clock: { now: quick.world.now, sleep: async () => {} } };
    const broken = await (kind === "watch" ? quick.watch(options) : quick.sync(options));
    expect(broken.summary).toMatchObject({ kind, resources: { build: { walk: "not_whole" } } });
    quick.arranged.fails = () => false;
    const next = await quick.sync({ settings: SETTINGS });
    expect(next.summary).toMatchObject({ kind: "full", status: "succeeded" });
  });
});

describe("a count that is wrong for good", () => {
  const startSmall = () => startArranged({ users: 2, projects: 4, versions: 4, files: 2, builds: 300 });
  const told = ({ summary }: { summary: { warnings?: string[] } }) => summary.warnings ?? [];

  const NAME = "by %i is told and explained by one whole walk, and the list stays read well";
  const isExplained = async (counted: number) => {
    await using quick = await startSmall();
    quick.arranged.counted = counted;
    const whole = await quick.sync({ kind: "full", settings: SETTINGS });
    expect(whole.summary).toMatchObject({
      status: "succeeded",
      resources: { build: { walk: "whole", shown: 300 } },
    });
    expect(told(whole)).toEqual([`the service counts ${300 + counted} builds and shows 300`]);
    for (const night of [1, 2, 3]) {
      const before = await lastGoodAt(quick);
      quick.world.advance(DAY_MS / 2);
      const round = await quick.watch({ settings: SETTINGS });
      expect(round.summary).toMatchObject({ status: "succeeded", requests: 1, unfinished: { deficit: 0 } });
      quick.world.advance(DAY_MS / 2);
      const { summary } = await quick.sync({ settings: { ...SETTINGS, fullEveryDays: 30 } });
      expect({ night, ...summary }).toMatchObject({
        kind: "incremental",
        status: "succeeded",
        resources: { build: { walk: "head" } },
      });
      expect(await lastGoodAt(quick)).not.toBe(before);
      expect(await findDeficit(quick.sql, "build"), "as a metric").toBe(counted);
    }
    const [report] = await quick.sql`select deficit, is_whole from report.freshness where resource = 'build'`;
    expect(report).toEqual({ deficit: counted, is_whole: true });
    // Beside it a real difference is found as ever.
    const gone = quick.arranged.arrange;
    quick.arranged.arrange = (builds) => gone(builds).toSpliced(150, 1);
    const [missing] = (await quick.world.catalog().list("build", { filters: [], offset: 150, limit: 1 }))
      .records;
    quick.arranged.details.set(missing?.id ?? "", new Response("", { status: 404 }));
    quick.world.advance(DAY_MS / 2);
    const found = await quick.watch({ settings: SETTINGS });
    expect(found.summary).toMatchObject({ status: "succeeded", resources: { build: { deleted: 1 } } });
  };
  test.for([15])(NAME, isExplained);
  test.for([-15])(NAME, { tags: ["long"] }, isExplained);

  test("is read well where each fifth build is shown and counted twice", { tags: ["long"] }, async () => {
    await using quick = await startSmall();
    quick.arranged.arrange = (builds) => builds.flatMap((build, at) => (at % 5 ? [build] : [build, build]));
    for (const kind of ["full", "incremental", "full"] as const) {
      quick.world.advance(DAY_MS);
      const { summary } = await quick.sync({ kind, settings: SETTINGS });
      expect(summary).toMatchObject({ status: "succeeded", resources: { build: { deleted: 0 } } });
    }
    quick.world.triggerBuilds(7);
    const { summary } = await quick.sync({ settings: SETTINGS });
    expect(summary).toMatchObject({ status: "succeeded", resources: { build: { inserted: 7 } } });
    // What is cut below its end is as missing as ever.
    const all = quick.arranged.arrange;
    quick.arranged.arrange = (builds) => all(builds).slice(0, 200);
    quick.arranged.counted = 160;
    expect((await quick.sync({ kind: "full", settings: SETTINGS })).summary.status).toBe("partial");
  });

  test("is measured at the end of the list where builds are shown twice too", {
    tags: ["long"],
  }, async () => {
    await using quick = await startSmall();
    const { arranged } = quick;
    const twice = (builds: readonly BuildRecord[]) =>
      builds.flatMap((build) => (Number(build.id) % 50 ? [build] : [build, build]));
    arranged.arrange = twice;
    arranged.counted = 4;
    const whole = await quick.sync({ kind: "full", settings: SETTINGS });
    expect(whole.summary).toMatchObject({ status: "succeeded" });
    const gone = (await quick.world.catalog().list("build", { filters: [], offset: 290, limit: 2 })).records;
    for (const { id } of gone) arranged.details.set(id, new Response("", { status: 404 }));
    arranged.arrange = (builds) => twice(builds.filter(({ id }) => gone.every((one) => one.id !== id)));
    const found = await quick.watch({ settings: SETTINGS });
    expect(found.summary).toMatchObject({ status: "succeeded", resources: { build: { deleted: 2 } } });
    expect((await findHeadFacts(quick.sql, "build")).gap).toEqual({ unshown: 4, repeated: 6 });
  });

  test("is no list read well where it shows far less, as one that is cut", { tags: ["long"] }, async () => {
    await using quick = await startSmall();
    quick.arranged.arrange = (builds) => builds.slice(0, 200);
    quick.arranged.counted = 100;
    const reason = "build list: the service counts 300 builds and shows 200: ask its owner why";
    const build = { walk: "not_whole", reason, shown: 200, records: 200, deleted: 0 };
    const first = await quick.sync({ settings: SETTINGS });
    expect(first.summary).toMatchObject({ status: "partial", resources: { build } });
    expect(told(first)).toEqual([]);
    expect(await lastGoodAt(quick)).toBeNull();
    expect((await quick.watch({ settings: SETTINGS })).summary.status).toBe("partial");
    expect(await lastGoodAt(quick)).toBeNull();
    expect(await findCountGaps(quick.sql)).toEqual([{ resource: "build", counted: 300, shown: 200 }]);
    quick.arranged.arrange = (builds) => builds;
    quick.arranged.counted = 0;
    const healed = await quick.sync({ settings: SETTINGS });
    expect(healed.summary).toMatchObject({
      status: "succeeded",
      resources: { build: { walk: "whole", inserted: 100 } },
    });
    expect(healed.summary.resources.build).not.toHaveProperty("shown");
    expect(await findCountGaps(quick.sql)).toEqual([]);
  });
});

test("after a run whose clock stood ten years ahead the next one is full", { tags: ["long"] }, async () => {
  await using quick = await startMirrored();
  const [late] = quick.world.triggerBuilds(1);
  const ahead = new Date(quick.world.now().getTime() + 3650 * DAY_MS);
  const wrong = { now: () => ahead, sleep: systemClock.sleep };
  const early = await quick.sync({ kind: "full", clock: wrong, settings: SETTINGS });
  expect(early.summary.status).toBe("succeeded");
  quick.world.advance(60_000);
  change(quick, 0, 2);
  const { summary } = await quick.sync({ settings: SETTINGS });
  expect(summary).toMatchObject({ kind: "full", status: "succeeded", resources: { build: { deleted: 2 } } });
  expect(await liveIds(quick)).toContain(late);
});

test("builds that come and go during a full walk make no deficit", { tags: ["long"] }, async () => {
  await using quick = await startMirrored();
  let went = 0;
  quick.arranged.arrange = (builds) => {
    quick.world.triggerBuilds(1);
    went += 1;
    return builds.slice(went % 2 === 0 ? went : went - 1);
  };
  const { summary } = await quick.sync({ kind: "full", settings: SETTINGS });
  expect(summary.resources.build).toMatchObject({ walk: "whole" });
  const [walk] = await quick.sql`
    select deficit from sync.walks where resource = 'build' order by run_id desc limit 1`;
  expect(walk).toEqual({ deficit: 0 });
});
