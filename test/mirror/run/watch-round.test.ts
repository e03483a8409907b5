import { describe, expect, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { exitCodeOfRun } from "../../../src/mirror/run/close-run.ts";
import type { BuildRecord } from "../../../src/resources/resources.ts";
import type { WorldOptions } from "../../../src/simulate/settings.ts";
import { createConnections } from "../../../src/store/ledger/connections.ts";
import { findResumableWalks } from "../../../src/store/ledger/run-ledger.ts";
import { type ArrangedWorld, startArranged } from "../../support/arranged-builds.ts";
import { countDatabase } from "../../support/counted-database.ts";
import { fingerprint } from "../../support/mirror-rows.ts";
import { createKeptLog, type QuickWorld, startQuickWorld, useMirrored } from "../../support/quick-world.ts";
import { wireBuild } from "../../support/wire-records.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const FIRST_PAGE = "/api/v1/build/?format=json&limit=20";

/** Worlds with 150 builds, in which nothing happens by itself, and mirrors that have read them once. */
function useWatched(options: WorldOptions = {}) {
  const few = { users: 3, projects: 4, versions: 6, files: 3, builds: 150 };
  return useMirrored(
    (copyOf) => startArranged({ ...few, ...options }, copyOf),
    async (quick) => {
      expect((await quick.sync({ kind: "full" })).error).toBeNull();
      quick.world.advance(MINUTE_MS);
    },
  );
}
const startWatched = useWatched();
const startStuck = useWatched({ stuckShare: 1 });
const startAhead = useWatched({ clockOffsetMs: 90_000 });

async function known({ sql }: QuickWorld, ids: readonly string[]): Promise<string[]> {
  const rows = await sql`select id from mirror.builds where id = any (${ids as string[]}::text[])`;
  return rows.map(({ id }) => id).sort();
}

test("a round that sees nothing asks the database little", async () => {
  await using quick = await startWatched();
  await using counted = await countDatabase(quick.databaseUrl);
  const connections = createConnections(counted.url, { program: "docmirror test", log: silentLog });
  // The first one opens its sessions.
  for (let round = 0; round < 2; round++) {
    counted.take();
    const { summary } = await quick.watch({ connections });
    expect(summary).toMatchObject({ status: "succeeded", transitions: 0 });
  }
  const { sessions, transactions, statements } = counted.take();
  await connections.end();
  expect(sessions).toBe(0);
  expect(transactions).toBeLessThanOrEqual(21);
  expect(statements.length, statements.join("\n")).toBeLessThanOrEqual(27);
});

const statesOf = async ({ sql }: QuickWorld, id: string) =>
  (
    await sql<{ state: string }[]>`
      select to_state as state from mirror.build_transitions where build_id = ${id} order by seq`
  ).map(({ state }) => state);

/** The lists and the details of builds that were asked for since the last call. */
function takeAsked({ arranged }: ArrangedWorld): { lists: string[]; details: string[] } {
  const asked = arranged.asked.splice(0);
  return {
    lists: asked.filter((path) => path.includes("?format=json&limit")),
    details: asked.flatMap((path) => /\/build\/(\d+)\//.exec(path)?.[1] ?? []).sort(),
  };
}

const place = (build: BuildRecord, at: number) => (builds: readonly BuildRecord[]) =>
  builds.toSpliced(at, 0, build);
const made = (id: string, over: Partial<BuildRecord> = {}) =>
  wireBuild(id, { project: "/api/v1/project/1/", ...over }) as unknown as BuildRecord;

describe("a round of the watch", () => {
  test("asks for an open build that the head does not show by its detail", { tags: ["long"] }, async () => {
    await using quick = await startWatched();
    const ids = quick.world.triggerBuilds(30);
    await quick.watch();
    takeAsked(quick);
    const open = await quick.sql`
      select build_id as id from sync.open_builds where build_id = any (${ids.slice(0, 10)}::text[]) order by 1`;
    expect(open.length).toBeGreaterThan(5);
    quick.world.advance(50 * MINUTE_MS);
    expect((await quick.watch()).summary.transitions).toBeGreaterThanOrEqual(open.length);
    expect(takeAsked(quick)).toEqual({ lists: [FIRST_PAGE], details: open.map(({ id }) => id) });
    expect(await quick.sql`select 1 from sync.open_builds`).toEqual([]);
  });

  test("reads on until it joins what is known, though builds come in", { tags: ["long"] }, async () => {
    await using quick = await startWatched();
    const ids = quick.world.triggerBuilds(70);
    let pages = 0;
    quick.arranged.arrange = (builds) => {
      pages += 1;
      if (pages === 2) ids.push(...quick.world.triggerBuilds(15));
      return builds;
    };
    const { summary } = await quick.watch();
    expect(summary).toMatchObject({ status: "succeeded", resources: { build: { walk: "head" } } });
    // What came in during the reading stands above it: it is for the next round, and no reason to search further down.
    expect(await known(quick, ids)).toHaveLength(70);
    expect(pages).toBeLessThan(8);
    expect((await quick.watch()).summary.status).toBe("succeeded");
    expect(await known(quick, ids)).toEqual([...ids].sort());
  });

  test.each([
    ["dated in the future stays at the top", 0, made("900001", { date: "2031-01-01T00:00:00" })],
    ["with an older date stands among known ones", 12, made("900002", { date: "2024-05-01T00:00:00" })],
    ["has an id out of order", 7, made("1", { date: "2024-05-15T12:00:30" })],
  ])("finds what is new though a build %s", { tags: ["long"] }, async (_, at, odd) => {
    await using quick = await startWatched();
    // As many go at the far end as come, so that the count tells nothing.
    const withOdd = (builds: readonly BuildRecord[]) => place(odd, at)(builds.slice(0, -1));
    quick.arranged.arrange = withOdd;
    const settings = { pageSize: 5 };
    expect((await quick.watch({ settings })).summary.resources.build).toMatchObject({ inserted: 1 });
    const ids = [...quick.world.triggerBuilds(2), "900003"];
    // A new one that stands below more known ones than a page holds.
    quick.arranged.arrange = (builds) =>
      place(made("900003", { date: "2024-05-15T11:00:00" }), 19)(withOdd(builds).slice(0, -3));
    expect((await quick.watch({ settings })).summary.resources.build).toMatchObject({ inserted: 3 });
    expect(await known(quick, ids)).toEqual([...ids].sort());
  });

  test.each([
    ["round", (quick: ArrangedWorld) => quick.watch()],
    ["sync", (quick: ArrangedWorld) => quick.sync({ kind: "incremental" })],
  ])("that breaks off leaves a gap, which the next %s closes", { tags: ["long"] }, async (_, next) => {
    await using quick = await startWatched();
    const ids = quick.world.triggerBuilds(70);
    // As many go at the far end as come, so that the count tells nothing.
    quick.arranged.arrange = (builds) => builds.slice(0, 150);
    quick.arranged.fails = awayFrom("offset=36");
    const broken = await quick.watch();
    expect(broken.summary).toMatchObject({ status: "partial", resources: { build: { walk: "not_whole" } } });
    expect(await known(quick, ids)).toHaveLength(38);
    quick.arranged.fails = () => false;
    quick.world.advance(MINUTE_MS);
    const { summary } = await next(quick);
    expect(summary).toMatchObject({ status: "succeeded", unfinished: { deficit: 70 } });
    expect(summary.resources.build?.walk).toBe("head");
    expect(await known(quick, ids)).toEqual([...ids].sort());
    takeAsked(quick);
    quick.world.advance(MINUTE_MS);
    await quick.watch();
    expect(takeAsked(quick).lists).toEqual([FIRST_PAGE]);
  });

  test("has nothing to join in an empty mirror, and says so without a request, in the ledger too", async () => {
    await using quick = await startQuickWorld({ builds: 30 });
    const result = await quick.watch();
    const reason = expect.stringContaining("no sync has read the builds");
    const resources = { build: { walk: "skipped", reason } };
    expect(result.summary).toMatchObject({ status: "partial", requests: 0, resources });
    expect(exitCodeOfRun(result)).toBe(3);
    expect(await quick.sql`select reason from report.runs`).toEqual([{ reason }]);
  });

  test("reads small pages after a recent look, and pages of a sync's size after more than an hour", {
    tags: ["long"],
  }, async () => {
    await using quick = await startWatched();
    const settings = { pageSize: 50 };
    await quick.watch({ settings });
    expect(takeAsked(quick).lists).toEqual([FIRST_PAGE]);
    quick.world.advance(HOUR_MS + 1000);
    await quick.watch({ settings });
    expect(takeAsked(quick).lists[0]).toBe("/api/v1/build/?format=json&limit=50");
  });

  test("in which nothing moved writes no row of the mirror", { tags: ["long"] }, async () => {
    await using quick = await startWatched();
    quick.world.triggerBuilds(25);
    await quick.watch();
    const before = await fingerprint(quick.sql);
    expect((await quick.watch()).summary).toMatchObject({ status: "succeeded", transitions: 0 });
    expect(await fingerprint(quick.sql)).toEqual(before);
  });

  test("is a run of its own kind, which keeps how the clocks stood", { tags: ["long"] }, async () => {
    await using quick = await startAhead();
    const { summary } = await quick.watch();
    const [run] = await quick.sql`
      select id, kind, status, requests, clock_ahead_min_ms as least, clock_ahead_max_ms as most
      from sync.runs order by id desc limit 1`;
    const id = summary.run_id;
    expect(run).toEqual({ id, kind: "watch", status: "succeeded", requests: 1, least: 90_000, most: 91_000 });
  });

  test("takes no checkpoint from a full sync that was broken off", { tags: ["long"] }, async () => {
    await using quick = await startWatched();
    quick.arranged.fails = awayFrom("offset=72");
    const broken = await quick.sync({ kind: "full", settings: { concurrency: 1 } });
    expect(broken.summary.resources.build).toMatchObject({ walk: "not_whole", pages: 4 });
    quick.arranged.fails = () => false;
    quick.world.advance(MINUTE_MS);
    const ids = quick.world.triggerBuilds(3);
    expect((await quick.watch()).summary.resources.build).toMatchObject({ walk: "head", inserted: 3 });
    const left = await findResumableWalks(quick.sql, "2024-05-15T00:00:00Z", "9999-01-01T00:00:00Z");
    expect(left.map(({ resource, runId }) => [resource, runId])).toEqual([["build", broken.summary.run_id]]);
    const { log, messages } = createKeptLog();
    const { summary } = await quick.sync({ kind: "full", log });
    expect(messages()).toContain("walk resumes at its checkpoint");
    expect(summary.resources.build).toMatchObject({ walk: "whole" });
    expect(await known(quick, ids)).toEqual(ids);
  });
});

/** The service is away from the first request on that names this. */
function awayFrom(part: string): (request: string) => boolean {
  let isAway = false;
  return (request) => {
    isAway ||= request.includes(part);
    return isAway;
  };
}

describe("an open build whose detail is gone", () => {
  /** A build that is open, seen once, and from then on in no list; its detail answers 404. */
  async function startVanishing() {
    const quick = await startStuck();
    const [id = ""] = quick.world.triggerBuilds(1);
    // By then it hangs in the state in which it stays.
    quick.world.advance(HOUR_MS);
    await quick.watch();
    const [state = ""] = await statesOf(quick, id);
    const shown = quick.arranged.arrange;
    // As many come as go, so that the count tells nothing.
    const old = made("900009", { date: "2020-01-01T00:00:00" });
    quick.arranged.arrange = (builds) => builds.filter((build) => build.id !== id).concat(old);
    quick.arranged.details.set(id, new Response(null, { status: 404 }));
    quick.world.advance(10 * MINUTE_MS);
    const comeBack = () => {
      quick.arranged.arrange = shown;
      quick.arranged.details.delete(id);
      quick.world.advance(MINUTE_MS);
    };
    return { quick, id, state, comeBack };
  }
  const deleted = async ({ sql }: QuickWorld, id: string) =>
    (
      await sql`
        select deleted_at is not null as deleted, state,
          (select count(*) from sync.open_builds where build_id = id) as open
        from mirror.builds where id = ${id}`
    )[0];

  test("vanishes and is not deleted by it, and comes back as what it is", { tags: ["long"] }, async () => {
    const { quick, id, state, comeBack } = await startVanishing();
    await using _ = quick;
    const { summary } = await quick.watch();
    expect(summary).toMatchObject({ status: "succeeded", unfinished: { deficit: 0 }, transitions: 1 });
    expect(await statesOf(quick, id)).toEqual([state, "vanished"]);
    expect(await deleted(quick, id)).toEqual({ deleted: false, state, open: 1 });
    // Now the count shows that another one came, whose state is seen.
    for (const transitions of [1, 0]) {
      quick.world.advance(MINUTE_MS);
      expect((await quick.watch()).summary).toMatchObject({ status: "succeeded", transitions });
    }
    comeBack();
    await quick.watch();
    expect(await statesOf(quick, id)).toEqual([state, "vanished", state]);
    const open = await quick.sql`select vanished_at from sync.open_builds where build_id = ${id}`;
    expect(open).toEqual([{ vanished_at: null }]);
  });
});
