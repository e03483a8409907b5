import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { defaultValues } from "../../../src/base/config.ts";
import { HttpStatusError, LockedError, NetworkError, StoreError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createNightlySync, createWatchJob, type WatchJobDeps } from "../../../src/cli/worker/run-jobs.ts";
import { createWorker, DONE } from "../../../src/cli/worker/worker.ts";
import { createHostPace, type HostPace } from "../../../src/mirror/api/host-pace.ts";
import { emptyCounts, type RunSummary, type WalkSummary } from "../../../src/mirror/lists/summary.ts";
import type { RunResult } from "../../../src/mirror/run/close-run.ts";
import { runSync, type SyncOptions, type SyncResult } from "../../../src/mirror/run/run.ts";
import { runWatchRound } from "../../../src/mirror/run/watch-round.ts";
import type { RunOptions } from "../../../src/mirror/run/with-run.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { type ArrangedBuilds, arrangeBuilds } from "../../support/arranged-builds.ts";
import { connectionsOf, keptDatabase } from "../../support/connections.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { createKeptLog, type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { summaryOf, syncOnce } from "../../support/sync.ts";
import { later } from "../../support/tally.ts";

const signal = new AbortController().signal;
const lost = new NetworkError("gone", { url: "http://127.0.0.1:1/" });

function createNight(runSync: (options: SyncOptions) => Promise<SyncResult>, url = "postgres://ready") {
  return createNightlySync({
    cron: "17 2 * * *",
    timezone: "Etc/UTC",
    settings: { ...defaultValues(), baseUrl: new URL("http://127.0.0.1:1/"), ratePerSecond: 0, retries: 0 },
    database: keptDatabase(url),
    pace: createHostPace({ ratePerSecond: 0, clock: systemClock }),
    assertMayRun: async () => {},
    runSync,
    clock: systemClock,
    log: silentLog,
  });
}

function endOf(status: RunSummary["status"], error: unknown = null): () => Promise<SyncResult> {
  return async () => ({ summary: summaryOf({ status }), error });
}

describe("a night", () => {
  it.each([
    ["succeeded", null, "done"],
    ["partial", null, "done"],
    ["partial", lost, "failed"],
    ["partial", new HttpStatusError("throttled", { url: "http://127.0.0.1:1/", status: 429 }), "failed"],
    ["failed", lost, "failed"],
    ["failed", new StoreError("down"), "failed"],
  ] as const)("that ends as %s by %s is %s", async (status, error, outcome) => {
    expect(await createNight(endOf(status, error)).run(signal)).toMatchObject({ outcome });
  });

  it.each(["full", "incremental"])("leaves the work to the %s sync that holds the lock", async (heldBy) => {
    const held = new LockedError("run 7 holds the lock", { heldBy });
    expect(await createNight(() => Promise.reject(held)).run(signal)).toMatchObject({ outcome: "busy" });
  });

  it.each(["watch", null])("is not left to a holder that does not do its work: %s", async (heldBy) => {
    const held = new LockedError("run 7 holds the lock", { heldBy });
    await expect(createNight(() => Promise.reject(held)).run(signal)).rejects.toBe(held);
  });
});

describe("the mirror is good up to", () => {
  async function insertWalks({ sql }: TestDatabase, starts: Record<string, string>, walk = "whole") {
    const [run] = await sql<{ id: number }[]>`
      insert into sync.runs (kind, status, started_at, heartbeat_at, pid, host)
      values ('full', 'succeeded', now(), now(), 1, 'here') returning id`;
    for (const [resource, at] of Object.entries(starts))
      await sql`
        insert into sync.walks (run_id, resource, started_at, finished_at, walk)
        values (${run?.id ?? 0}, ${resource}, ${at}::timestamptz, ${at}::timestamptz, ${walk})`;
  }
  const allAt = (at: string) => Object.fromEntries(RESOURCES.map((resource) => [resource, at]));

  it("the start of the walk of the list that was read longest ago", async () => {
    await using database = await createTestDatabase();
    const night = createNight(endOf("succeeded"), database.url);
    await insertWalks(database, allAt("2026-03-09T02:17:00Z"));
    await insertWalks(database, { build: "2026-03-10T02:17:00Z" }, "head");
    expect(await night.lastGoodAt?.(signal)).toEqual(new Date("2026-03-09T02:17:00Z"));
    await insertWalks(database, allAt("2026-03-11T02:17:00Z"), "not_whole");
    expect(await night.lastGoodAt?.(signal)).toEqual(new Date("2026-03-09T02:17:00Z"));
  });

  it("nothing while one list was never read well, whatever became of the run", async () => {
    await using database = await createTestDatabase();
    const night = createNight(endOf("succeeded"), database.url);
    const failed = await syncOnce(database.url, new URL("http://127.0.0.1:1/"), { settings: { retries: 0 } });
    expect(failed.summary.status).toBe("failed");
    expect(await night.lastGoodAt?.(signal)).toBeNull();
    await insertWalks(database, { user: "2026-03-09T02:17:00Z" });
    expect(await night.lastGoodAt?.(signal)).toBeNull();
  });

  it("nothing where a clock dated a walk ten years ahead", async () => {
    await using database = await createTestDatabase();
    const night = createNight(endOf("succeeded"), database.url);
    const ahead = new Date(Date.now() + 3650 * 86_400_000).toISOString();
    await insertWalks(database, { ...allAt("2026-03-09T02:17:00Z"), user: ahead });
    expect(await night.lastGoodAt?.(signal)).toBeNull();
  });
});

const TINY = { users: 2, projects: 2, versions: 2, files: 2, builds: 40, rates: QUIET, clockSteps: false };

const settings = (baseUrl: URL): WatchJobDeps["settings"] => ({
  ...defaultValues(),
  baseUrl,
  ratePerSecond: 0,
  retries: 0,
});

function createRound(over: Partial<WatchJobDeps> = {}) {
  return createWatchJob({
    cron: "* * * * *",
    timezone: "Etc/UTC",
    clock: systemClock,
    log: silentLog,
    settings: settings(new URL("http://127.0.0.1:1/")),
    pace: createHostPace({ ratePerSecond: 0, clock: systemClock }),
    assertMayRun: async () => {},
    database: keptDatabase("postgres://ready"),
    runWatchRound: ending("succeeded"),
    ...over,
  });
}

function ending(status: RunSummary["status"], over: Partial<RunSummary> = {}): () => Promise<RunResult> {
  return async () => ({ summary: summaryOf({ kind: "watch", status, ...over }), error: null });
}

describe("a round as a job", () => {
  it.each([
    ["succeeded", "done"],
    ["partial", "done"],
    ["failed", "failed"],
    ["interrupted", "failed"],
  ] as const)("that ends as %s is %s", async (status, outcome) => {
    expect(await createRound({ runWatchRound: ending(status) }).run(signal)).toMatchObject({ outcome });
  });

  it("gives way to the run that holds the lock", async () => {
    const locked = new LockedError("run 7 holds the lock", { heldBy: "full" });
    const round = createRound({ runWatchRound: () => Promise.reject(locked) });
    expect(await round.run(signal)).toEqual({ outcome: "busy", trouble: null });
  });

  it("throws what kept it from beginning", async () => {
    const round = createRound({ runWatchRound: () => Promise.reject(new StoreError("no rights")) });
    await expect(round.run(signal)).rejects.toThrow("no rights");
  });

  it("writes into the database that is ready, at the pace of the process", async () => {
    const pace = createHostPace({ ratePerSecond: 0, clock: systemClock });
    let given: RunOptions | undefined;
    const round = createRound({
      pace,
      runWatchRound(options) {
        given = options;
        return ending("succeeded")();
      },
    });
    await round.run(signal);
    expect(given?.connections).toBe(connectionsOf("postgres://ready"));
    expect(given?.pace).toBe(pace);
  });

  it("is left out while the service asks to be left alone", async () => {
    const clock = createFakeClock();
    const pace = createHostPace({ ratePerSecond: 0, clock });
    const refusal = new HttpStatusError("throttled", { url: "http://127.0.0.1:1/", status: 429 });
    pace.hold(60_000, refusal);
    let rounds = 0;
    const round = createRound({
      pace,
      runWatchRound() {
        rounds += 1;
        return ending("succeeded")();
      },
    });
    expect(await round.run(signal)).toMatchObject({ outcome: "busy" });
    await clock.sleep(60_001);
    expect([await round.run(signal), rounds]).toEqual([DONE, 1]);
  });

  it("is due at the start of the process", () => {
    expect(createRound().startsAtOnce).toBe(true);
  });

  it("says why it did not succeed, each reason once", async () => {
    const reason = "it is told";
    const broken: WalkSummary = { ...emptyCounts(), walk: "not_whole", reason, total_count: null };
    const skipped: WalkSummary = { ...broken, walk: "skipped" };
    const endWith = (over: Partial<RunSummary>, error: unknown = null) =>
      createRound({ runWatchRound: async () => ({ ...(await ending("partial", over)()), error }) }).run(
        signal,
      );
    expect(await endWith({ resources: { build: broken }, warnings: ["paused"] })).toMatchObject({
      outcome: "done",
      trouble: "partial; build: it is told; paused",
      facts: { error: "build: it is told; paused" },
    });
    expect(await endWith({ resources: { build: skipped } })).toMatchObject({
      outcome: "waiting",
      trouble: reason,
    });
    const gone = new NetworkError(`gone: ${reason}`, {
      url: "http://127.0.0.1:1/",
      hint: "see whether it is up",
    });
    expect(await endWith({ resources: { build: broken }, error: gone.message }, gone)).toMatchObject({
      outcome: "failed",
      facts: { error: gone.message, hint: "see whether it is up" },
    });
  });
});

type Beside = Awaited<ReturnType<typeof startBeside>>;

/** Both jobs of one process over a mirror that has been read once; the test gives the ticks and may hold the service. */
async function startBeside() {
  const arranged: ArrangedBuilds = arrangeBuilds();
  const quick: QuickWorld = await startQuickWorld(TINY, arranged.intercept);
  await quick.sync({ kind: "full" });
  quick.world.advance(60_000);
  arranged.asked.length = 0;
  const clock = { now: () => quick.world.now(), sleep: systemClock.sleep };
  const { log, messages } = createKeptLog();
  const shared = {
    timezone: "Etc/UTC",
    clock,
    log,
    settings: settings(quick.baseUrl),
    pace: createHostPace({ ratePerSecond: 0, clock }),
    assertMayRun: async () => {},
    database: keptDatabase(quick.databaseUrl),
  };
  const ticks = new Map<string, () => void>();
  const worker = createWorker({
    clock,
    log,
    jobs: [
      createNightlySync({ ...shared, cron: "0 0 29 2 *", runSync }),
      createWatchJob({ ...shared, cron: "* * * * *", runWatchRound }),
    ],
    schedule({ cron }, onTick) {
      ticks.set(cron === "* * * * *" ? "watch" : "sync", onTick);
      return { stop: () => {} };
    },
  });
  worker.start();
  const reach = async (states: Record<string, string>) => {
    const isReached = () => Object.entries(states).every(([job, state]) => worker.states()[job] === state);
    await expect.poll(isReached, { interval: 10 }).toBe(true);
  };
  // The round at the start.
  await expect.poll(() => arranged.asked.length, { interval: 10 }).toBeGreaterThan(0);
  await reach({ sync: "waiting", watch: "waiting" });
  arranged.asked.length = 0;
  return {
    quick,
    arranged,
    messages,
    reach,
    tick: (job: "sync" | "watch") => ticks.get(job)?.(),
    /** Keeps all requests waiting; what it gives lets them go. */
    hold() {
      const held = later();
      arranged.held = held.promise;
      return held.resolve;
    },
    asked: () => expect.poll(() => arranged.asked.length, { interval: 10 }).toBeGreaterThan(0),
    async [Symbol.asyncDispose]() {
      await worker.stop();
      await quick[Symbol.asyncDispose]();
    },
  };
}

const runsOf = ({ quick: { sql } }: Beside) =>
  sql`select kind, status from sync.runs where id > 2 order by id`;

describe("beside the nightly sync", () => {
  it("a round that is due while a sync runs is left out", async () => {
    await using beside = await startBeside();
    const letGo = beside.hold();
    beside.tick("sync");
    await beside.asked();
    beside.tick("watch");
    await beside.reach({ watch: "waiting", sync: "running" });
    letGo();
    await beside.reach({ sync: "waiting" });
    expect(await runsOf(beside)).toEqual([{ kind: "incremental", status: "succeeded" }]);
    expect(beside.messages()).not.toContain("run failed");
  });

  it("a sync that is due while a round runs waits for its end", { tags: ["long"] }, async () => {
    await using beside = await startBeside();
    const letGo = beside.hold();
    beside.tick("watch");
    await beside.asked();
    beside.tick("sync");
    await expect.poll(beside.messages).toContain("sync started");
    await beside.reach({ watch: "running", sync: "running" });
    letGo();
    await beside.reach({ watch: "waiting", sync: "waiting" });
    expect(await runsOf(beside)).toEqual([
      { kind: "watch", status: "succeeded" },
      { kind: "incremental", status: "succeeded" },
    ]);
  });

  it("keeps one even pace with it, from one run to the next", { tags: ["long"] }, async () => {
    await using quick = await startQuickWorld(TINY);
    await quick.sync({ kind: "full" });
    quick.simulation.resetRequests();
    const paced: HostPace = createHostPace({ ratePerSecond: 5, clock: systemClock });
    let turns = 0;
    const pace: HostPace = {
      ...paced,
      turn(until) {
        turns += 1;
        return paced.turn(until);
      },
    };
    const withPace = { pace, settings: { ratePerSecond: 5, pageSize: 100 } };
    const { summary } = await quick.sync({ kind: "incremental", resources: ["build"], ...withPace });
    const rounds = [await quick.watch(withPace), await quick.watch(withPace), await quick.watch(withPace)];
    const requests = [summary, ...rounds.map((round) => round.summary)].map((run) => run.requests);
    expect(turns).toBe(requests.reduce((sum, count) => sum + count));
    const { arrivalsMs } = quick.simulation.requests();
    const gaps = arrivalsMs.slice(1).map((at, before) => at - (arrivalsMs[before] ?? 0));
    expect(gaps.length).toBeGreaterThan(3);
    // Three quarters of a fifth of a second, but for what a busy machine adds to one and takes from the next.
    expect(Math.min(...gaps)).toBeGreaterThan(75);
  });
});
