/** @module-tag long */
import { beforeAll, describe, expect, inject, test } from "vitest";
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { StoppedError, StoreError } from "../../../src/base/errors.ts";
import { exitCodeOfRun } from "../../../src/mirror/run/close-run.ts";
import type { SyncOptions } from "../../../src/mirror/run/run.ts";
import { withTestSql } from "../../support/database.ts";
import { linkDatabase } from "../../support/database-link.ts";
import { otherProcess } from "../../support/leases.ts";
import { mirrorRows } from "../../support/mirror-rows.ts";
import {
  createKeptLog,
  type Intercept,
  type QuickWorld,
  startQuickWorld,
} from "../../support/quick-world.ts";

const BUILDS = "/api/v1/build/";

const WORLD = { users: 12, projects: 10, versions: 40, files: 20, builds: 300 };
const start = (intercept?: Intercept) => startQuickWorld(WORLD, intercept);

/** What an undisturbed run over the world leaves behind. */
let undisturbed: Record<string, string[]>;
beforeAll(async () => {
  await using quick = await start();
  expect((await quick.sync()).summary.status).toBe("succeeded");
  undisturbed = await mirrorRows(quick.databaseUrl);
});

const pathOf = (request: Request) => new URL(request.url).pathname;

/** A world whose run is asked to stop when it asks for this page of builds. */
async function startStopping(page: number) {
  const stop = new AbortController();
  let asked = 0;
  const quick = await start((request, next) => {
    if (pathOf(request) === BUILDS) asked += 1;
    if (asked === page) stop.abort(new StoppedError("SIGTERM"));
    return next();
  });
  return Object.assign(quick, { signal: stop.signal });
}

/** A service that hangs up after 20 requests, until `left` is set again. */
async function startFading() {
  const fading = { left: 20 };
  const quick = await start((_request, next) => (--fading.left < 0 ? "hang up" : next()));
  return Object.assign(quick, { fading });
}

describe("a run that is stopped in the middle", () => {
  test.each([
    4, 13,
  ])("at page %i of builds is interrupted; the next one goes on and ends the same", async (page) => {
    await using quick = await startStopping(page);
    const first = await quick.sync({ signal: quick.signal });
    expect(first.summary.status).toBe("interrupted");
    expect(exitCodeOfRun(first)).toBe(143);
    const [left] = await quick.sql`select checkpoint, walk, pages from sync.walks where resource = 'build'`;
    expect(left).toMatchObject({ walk: null, checkpoint: { seq: left?.pages } });
    quick.simulation.resetRequests();
    const { log, messages } = createKeptLog();
    const second = await quick.sync({ log });
    expect(second.summary.status).toBe("succeeded");
    expect(messages()).toContain("walk resumes at its checkpoint");
    expect(quick.simulation.requests().byPath.get(BUILDS)).toBe(17 - Number(left?.pages));
    const counts = { pages: 17, records: 300, inserted: 300 };
    expect(second.summary.resources.build).toMatchObject({ walk: "whole", ...counts });
    expect(await mirrorRows(quick.databaseUrl)).toEqual(undisturbed);
    const starts =
      await quick.sql`select count(distinct started_at) as n from sync.walks where resource = 'build'`;
    expect(starts).toEqual([{ n: 1 }]);
  });

  test("is not gone on from when its checkpoint is older than six hours", async () => {
    await using quick = await startStopping(4);
    expect((await quick.sync({ signal: quick.signal })).summary.status).toBe("interrupted");
    expect(await quick.sql`select 1 from sync.walks where checkpoint is not null`).not.toHaveLength(0);
    quick.world.advance(6 * 3_600_000 + 1000);
    const { log, messages } = createKeptLog();
    expect((await quick.sync({ log })).summary.status).toBe("succeeded");
    expect(messages()).not.toContain("walk resumes at its checkpoint");
  });
});

test("an incremental run that breaks off hands no checkpoint of an earlier full walk on", async () => {
  await using quick = await startFading();
  await quick.sync();
  quick.fading.left = 1;
  await quick.sync({ kind: "incremental", resources: ["build"] });
  const rows =
    await quick.sql`select walk, checkpoint from sync.walks where resource = 'build' order by run_id`;
  expect(rows).toEqual([
    { walk: "not_whole", checkpoint: expect.any(Object) },
    { walk: "not_whole", checkpoint: null },
  ]);
});

test("an incremental run that is stopped near the head of builds leaves no gap below what it stored", async () => {
  await using quick = await startQuickWorld({ ...WORLD, clockSteps: false });
  await quick.sync();
  const ids = quick.world.triggerBuilds(100);
  const stop = new AbortController();
  const stopped = await quick.sync({
    kind: "incremental",
    signal: stop.signal,
    onProgress: (resource, { pages }) => {
      if (resource === "build" && pages === 2) stop.abort(new StoppedError("SIGTERM"));
    },
  });
  expect(stopped.summary.status).toBe("interrupted");
  expect((await quick.sync({ kind: "incremental" })).summary.status).toBe("succeeded");
  expect(
    (await quick.sql`select id from mirror.builds order by id desc limit 100`).map(({ id }) => id).sort(),
  ).toEqual(ids.sort());
});

describe("upstream that is lost in mid-walk", () => {
  test("leaves a partial run with its checkpoints, exit code 5, and the next run goes on", async () => {
    await using quick = await startFading();
    const first = await quick.sync();
    expect(first.summary).toMatchObject({
      status: "partial",
      error: expect.stringContaining("got no answer"),
    });
    expect(exitCodeOfRun(first)).toBe(5);
    expect(first.summary.resources.build).toMatchObject({ walk: "not_whole", reason: expect.any(String) });
    const [walk] =
      await quick.sql`select walk, reason, checkpoint, pages from sync.walks where resource = 'build'`;
    expect(walk).toMatchObject({ walk: "not_whole", checkpoint: { seq: walk?.pages } });
    quick.fading.left = Number.POSITIVE_INFINITY;
    quick.simulation.resetRequests();
    const second = await quick.sync();
    expect(second.summary.status).toBe("succeeded");
    expect(quick.simulation.requests().byPath.get(BUILDS)).toBe(17 - Number(walk?.pages));
    expect(await mirrorRows(quick.databaseUrl)).toEqual(undisturbed);
  });
});

test.each([
  500, 400,
])("lists that all answer %i fail the run with exit code 5 and a reason", async (status) => {
  await using quick = await start((request, next) =>
    /\/api\/v1\/[a-z]+\/$/.test(pathOf(request)) ? new Response("{}", { status }) : next(),
  );
  const result = await quick.sync();
  expect(result.summary).toMatchObject({ status: "failed", error: expect.stringContaining(String(status)) });
  expect(result.error).toBeInstanceOf(Error);
  expect(exitCodeOfRun(result)).toBe(5);
});

describe("Postgres that goes away in mid-run", () => {
  /** Pages and rows of the walk of builds as they were committed: all of a page or nothing. */
  async function expectNothingHalfWritten(quick: QuickWorld, builds = WORLD.builds) {
    const [walk] = await quick.sql.unsafe(
      `select case pages when 0 then 0 else least(${builds}, 20 + (pages - 1) * 18) end as expected, (select count(*) from mirror.builds) as found,
         (select count(*) from mirror.build_transitions) as transitions, (select count(*) from mirror.build_logs) as logs
       from sync.walks where resource = 'build' order by run_id desc limit 1`,
    );
    const expected = walk?.expected;
    expect(walk).toEqual({ expected, found: expected, transitions: expected, logs: expected });
  }

  /** Does it once, when the walk of builds is at its ninth page. */
  function inMidRun(act: () => Promise<unknown>) {
    let acted: Promise<unknown> | undefined;
    const onProgress: SyncOptions["onProgress"] = (resource, { pages }) => {
      if (resource === "build" && pages >= 9) acted ??= act();
    };
    return { onProgress, done: async () => void (await acted) };
  }

  test("and ends all sessions is waited out: the run ends like an undisturbed one", async () => {
    let act: ReturnType<typeof inMidRun> | undefined;
    // The service waits until the sessions are gone: a run is over sooner than a busy machine ends them.
    await using quick = await start(async (_request, next) => {
      await act?.done();
      return next();
    });
    const name = new URL(quick.databaseUrl).pathname.slice(1);
    act = inMidRun(() =>
      withTestSql(
        inject("databaseServer").adminUrl,
        (sql) => sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`,
      ),
    );
    const { log, messages } = createKeptLog();
    const { summary, error } = await quick.sync({ onProgress: act.onProgress, log });
    await act.done();
    expect(error).toBeNull();
    const resources = { build: { walk: "whole", records: 300 } };
    expect(summary).toMatchObject({ status: "succeeded", resources });
    expect(messages()).toContain("the database answers again");
    await expectNothingHalfWritten(quick);
    expect(await mirrorRows(quick.databaseUrl)).toEqual(undisturbed);
  });

  test("and refuses connections for a while is waited out", async () => {
    await using quick = await start();
    await using link = await linkDatabase(quick.databaseUrl);
    const act = inMidRun(async () => {
      await link.cut();
      refused = 0;
    });
    let refused = -1;
    const clock: Clock = {
      now: () => quick.world.now(),
      async sleep(ms, signal) {
        if (refused >= 0) refused += 1;
        if (refused === 6) await link.restore();
        await systemClock.sleep(Math.min(ms, 5), signal);
      },
    };
    await using connections = otherProcess(link.url);
    const { summary } = await quick.sync({ onProgress: act.onProgress, clock, connections });
    expect(summary.status).toBe("succeeded");
    expect(refused).toBeGreaterThanOrEqual(6);
    expect(await mirrorRows(quick.databaseUrl)).toEqual(undisturbed);
  });

  test("and stays away ends the run with exit code 4 and nothing half-written; the next one goes on", async () => {
    await using quick = await startQuickWorld({ ...WORLD, builds: 900 });
    await using link = await linkDatabase(quick.databaseUrl);
    const act = inMidRun(() => link.cut());
    let waitedMs = 0;
    const clock: Clock = {
      now: () => quick.world.now(),
      sleep: (ms, signal) => {
        waitedMs += ms;
        return systemClock.sleep(1, signal);
      },
    };
    await using connections = otherProcess(link.url);
    const result = await quick.sync({ onProgress: act.onProgress, clock, connections });
    expect(result.error).toBeInstanceOf(StoreError);
    expect(exitCodeOfRun(result)).toBe(4);
    expect(waitedMs).toBeGreaterThan(60_000);
    await expectNothingHalfWritten(quick, 900);
    const { log, messages } = createKeptLog();
    expect((await quick.sync({ log })).summary.status).toBe("succeeded");
    expect(messages()).toContain("walk resumes at its checkpoint");
    expect(await quick.sql`select count(*) as builds from mirror.builds`).toEqual([{ builds: 900 }]);
  });
});
