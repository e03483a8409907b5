/** What an incremental run makes of a build that comes where nobody looks, and of a clock that stood wrong. */
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { exitCodeOfRun } from "../../../src/mirror/run/with-run.ts";
import type { BuildRecord } from "../../../src/resources/build.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { withSql } from "../../../src/store/connection/connect.ts";
import { findListFreshness } from "../../../src/store/ledger/list-freshness.ts";
import { type ArrangedBuilds, arrangeBuilds } from "../../support/arranged-builds.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { wireBuild } from "../../support/wire-records.ts";

const DAY_MS = 86_400_000;
const SETTINGS = { pageSize: 100 };

type Mirrored = QuickWorld & { arranged: ArrangedBuilds };

/** A mirror of 1,500 builds, none of which moves. */
async function startMirrored(): Promise<Mirrored> {
  const arranged = arrangeBuilds();
  const quick = await startQuickWorld(
    {
      ...{ users: 2, projects: 4, versions: 4, files: 2, builds: 1500, rates: QUIET },
      ...{ hiddenShare: 0, stuckShare: 0, clockSteps: false },
    },
    arranged.intercept,
  );
  arranged.world = quick.world;
  expect((await quick.sync({ kind: "full", settings: SETTINGS })).summary.status).toBe("succeeded");
  quick.world.advance(60_000);
  return Object.assign(quick, { arranged });
}

const deepBuilds = (count: number) =>
  Array.from(
    { length: count },
    (_, at) =>
      wireBuild(String(900_001 + at), {
        project: "/api/v1/project/1/",
        version: null,
        date: "2020-01-01T00:00:00",
      }) as unknown as BuildRecord,
  );

/** Inserts builds at place 1,200, and deletes builds from there. */
function change({ arranged }: Mirrored, came: number, went: number): string[] {
  let gone: string[] = [];
  arranged.arrange = (builds) => {
    gone = builds.slice(1200, 1200 + went).map(({ id }) => id);
    for (const id of gone) arranged.details.set(id, new Response("", { status: 404 }));
    return builds.toSpliced(1200, went, ...deepBuilds(came));
  };
  return gone;
}

function liveIds({ databaseUrl }: QuickWorld): Promise<Set<string>> {
  return withSql(databaseUrl, { applicationName: "docmirror test", max: 1 }, async (sql) => {
    const rows = await sql<{ id: string }[]>`select id from mirror.builds where deleted_at is null`;
    return new Set(rows.map(({ id }) => id));
  });
}

/** When the list of builds was last read well. */
function lastGoodAt({ databaseUrl }: QuickWorld): Promise<string | null | undefined> {
  return withSql(databaseUrl, { applicationName: "docmirror test", max: 1 }, async (sql) => {
    const lists = await findListFreshness(sql);
    return lists.find(({ resource }) => resource === "build")?.finishedAt;
  });
}

const hasDeep = (ids: Set<string>) => deepBuilds(5).filter(({ id }) => ids.has(id)).length;

describe("five builds that appear at place 1,200 of 1,500", () => {
  const reason = "build list: upstream counts 5 builds more than are here: a full walk is due";

  test("make an incremental run partial, which says how many are missing, and the next run full", {
    tags: ["long"],
  }, async () => {
    await using quick = await startMirrored();
    change(quick, 5, 0);
    const first = await quick.sync({ kind: "incremental", settings: SETTINGS });
    expect(first.summary).toMatchObject({
      status: "partial",
      resources: { build: { walk: "head", reason } },
    });
    expect(hasDeep(await liveIds(quick))).toBe(0);
    // Asked for again, it is as partial: the new count is no new expectation.
    const again = await quick.sync({ kind: "incremental", settings: SETTINGS });
    expect(again.summary).toMatchObject({ status: "partial", resources: { build: { reason } } });
    const round = await quick.watch({ settings: SETTINGS });
    expect(round.summary).toMatchObject({ status: "partial", resources: { build: { reason } } });
    const next = await quick.sync({ settings: SETTINGS });
    expect(next.summary).toMatchObject({ kind: "full", status: "succeeded" });
    expect(hasDeep(await liveIds(quick))).toBe(5);
  });

  test.for(["full", "watch"] as const)("are not forgotten when a walk breaks off meanwhile (%s)", {
    tags: ["long"],
  }, async (kind) => {
    await using quick = await startMirrored();
    change(quick, 5, 0);
    await quick.sync({ kind: "incremental", settings: SETTINGS });
    quick.arranged.fails = (request) => request.startsWith("/api/v1/build/");
    const broken =
      kind === "watch" ? await quick.watch({ settings: SETTINGS }) : await quick.sync({ settings: SETTINGS });
    expect(broken.summary).toMatchObject({ kind, resources: { build: { walk: "not_whole" } } });
    quick.arranged.fails = () => false;
    const next = await quick.sync({ settings: SETTINGS });
    expect(next.summary).toMatchObject({ kind: "full", status: "succeeded" });
    expect(hasDeep(await liveIds(quick))).toBe(5);
  });

  test("are read in the same night where a full walk fits into it", { tags: ["long"] }, async () => {
    await using quick = await startMirrored();
    change(quick, 5, 0);
    const { summary } = await quick.sync({ settings: SETTINGS });
    expect(summary).toMatchObject({
      ...{ kind: "incremental", status: "succeeded" },
      resources: { build: { walk: "whole", inserted: 5 } },
    });
    expect(hasDeep(await liveIds(quick))).toBe(5);
  });
});

test("builds that go make no run partial: the list does not count as read well, and the next full walk finds which", async () => {
  await using quick = await startMirrored();
  const before = await lastGoodAt(quick);
  change(quick, 0, 3);
  for (const run of [() => quick.sync({ kind: "incremental", settings: SETTINGS }), () => quick.watch()]) {
    const result = await run();
    expect(result.summary).toMatchObject({ status: "succeeded", unfinished: { deficit: 3 } });
    expect(result.summary.resources.build).toMatchObject({ walk: "head" });
    expect(exitCodeOfRun(result)).toBe(0);
    expect(await lastGoodAt(quick)).toBe(before);
  }
  const next = await quick.sync({ settings: SETTINGS });
  expect(next.summary).toMatchObject({
    kind: "full",
    status: "succeeded",
    unfinished: { deficit: 0 },
    resources: { build: { deleted: 3 } },
  });
  expect(await lastGoodAt(quick)).not.toBe(before);
});

test("three builds that come where three others go are healed by the next full walk", {
  tags: ["long"],
}, async () => {
  await using quick = await startMirrored();
  change(quick, 3, 3);
  const head = await quick.sync({ kind: "incremental", settings: SETTINGS });
  expect(head.summary.status).toBe("succeeded");
  quick.world.advance(8 * DAY_MS);
  const { summary } = await quick.sync({ settings: SETTINGS });
  expect(summary).toMatchObject({
    ...{ kind: "full", status: "succeeded" },
    resources: { build: { inserted: 3, deleted: 3 } },
  });
  expect((await liveIds(quick)).size).toBe(1500);
  expect(hasDeep(await liveIds(quick))).toBe(3);
});

test("after a run whose clock stood ten years ahead the next one is full, deletes what went and follows what moves", {
  tags: ["long"],
}, async () => {
  await using quick = await startMirrored();
  const [late] = quick.world.triggerBuilds(1);
  const ahead = new Date(quick.world.now().getTime() + 3650 * DAY_MS);
  const wrong = { now: () => ahead, sleep: systemClock.sleep };
  expect((await quick.sync({ kind: "full", clock: wrong, settings: SETTINGS })).summary.status).toBe(
    "succeeded",
  );
  quick.world.advance(60_000);
  change(quick, 0, 2);
  const { summary } = await quick.sync({ settings: SETTINGS });
  expect(summary).toMatchObject({ kind: "full", status: "succeeded", resources: { build: { deleted: 2 } } });
  expect(await liveIds(quick)).toContain(late);
});

test("in five days with ordinary deletions no round exits with 3, and what is gone shows until the night settles it", {
  tags: ["long"],
}, async () => {
  await using quick = await startQuickWorld({ builds: 900 });
  await quick.sync();
  const deficits: number[] = [];
  for (let day = 0; day < 5; day++) {
    for (let round = 0; round < 4; round++) {
      quick.world.advance(DAY_MS / 4);
      const result = await quick.watch();
      expect({ exit: exitCodeOfRun(result), ...result.summary.resources.build }).toMatchObject({
        exit: 0,
        walk: "head",
      });
      deficits.push(result.summary.unfinished.deficit);
    }
    const { summary } = await quick.sync({ settings: { fullEveryDays: 1 } });
    expect(summary).toMatchObject({ status: "succeeded", unfinished: { deficit: 0 } });
  }
  expect(deficits.filter((records) => records > 0).length).toBeGreaterThan(5);
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
  const [walk] = await withSql(
    quick.databaseUrl,
    { applicationName: "docmirror test", max: 1 },
    (sql) =>
      sql<
        { deficit: number }[]
      >`select deficit from sync.walks where resource = 'build' order by run_id desc limit 1`,
  );
  expect(walk).toEqual({ deficit: 0 });
});
