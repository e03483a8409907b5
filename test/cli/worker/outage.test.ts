import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { defaultValues } from "../../../src/base/config.ts";
import { StoreError } from "../../../src/base/errors.ts";
import { createNotifyJob } from "../../../src/cli/worker/follow-up-jobs.ts";
import { createKeptDatabase } from "../../../src/cli/worker/kept-database.ts";
import { createNightlySync, createWatchJob } from "../../../src/cli/worker/run-jobs.ts";
import { createWorker, type Job } from "../../../src/cli/worker/worker.ts";
import { createHostPace } from "../../../src/mirror/api/host-pace.ts";
import { runSync } from "../../../src/mirror/run/run.ts";
import { runWatchRound } from "../../../src/mirror/run/watch-round.ts";
import { keptDatabase } from "../../support/connections.ts";
import { createHandClock } from "../../support/fake-clock.ts";
import { startQuickWorld } from "../../support/quick-world.ts";
import { WEBHOOK_KEY } from "../../support/webhook-receiver.ts";

const MINUTES = 24 * 60;
const MINUTE_MS = 60_000;
const DEFAULTS = { ...defaultValues(), baseUrl: new URL("http://127.0.0.1:1/") };

type Line = Record<string, unknown> & { msg: string };

/** Lets a worker with these jobs live a day, minute by minute, each after all that it began is over. Gives what the log says. */
async function liveADay(
  createJobs: (deps: ReturnType<typeof createDeps>) => Job[],
  isOver: () => Promise<unknown> = async () => {},
): Promise<Line[]> {
  const deps = createDeps();
  const worker = createWorker({ jobs: createJobs(deps), clock: deps.hand, log: deps.log });
  worker.start();
  for (let minute = 0; minute < MINUTES; minute++) {
    await deps.hand.advance(MINUTE_MS);
    await isOver();
  }
  await worker.stop();
  return deps.lines;
}

function createDeps() {
  const lines: Line[] = [];
  const hand = createHandClock("2026-03-10T12:00:30Z");
  const log = pino({ level: "info", base: null }, { write: (text: string) => lines.push(JSON.parse(text)) });
  return { lines, hand, log };
}

const AWAY = new StoreError("Cannot reach Postgres at 127.0.0.1:1", { sqlstate: "ECONNREFUSED" });

const createRounds = ({ hand, log }: ReturnType<typeof createDeps>, open: () => Promise<never>): Job[] => {
  const prepare = async () => {};
  const database = createKeptDatabase({
    program: "docmirror test",
    open,
    prepare,
    isLoginFixed: false,
    clock: hand,
    log,
  });
  const shared = { database, clock: hand, log, timezone: "Etc/UTC", settings: DEFAULTS };
  const pace = createHostPace({ ratePerSecond: 0, clock: hand });
  const assertMayRun = async () => {};
  return [
    createNightlySync({ ...shared, pace, assertMayRun, cron: DEFAULTS.syncCron, runSync }),
    createWatchJob({ ...shared, pace, assertMayRun, cron: DEFAULTS.watchCron, runWatchRound }),
  ];
};

describe("the log of a day", { tags: ["long"] }, () => {
  it("has at most 60 lines where the database is away, and the first one says so", async () => {
    const lines = await liveADay((deps) => createRounds(deps, () => Promise.reject(AWAY)));
    expect(lines[0]).toMatchObject({ level: 40, error: AWAY.message });
    expect(lines.at(-1)).toMatchObject({ failures: expect.any(Number), since: expect.any(String) });
    expect(lines.length).toBeLessThan(60);
  });

  it("has at most 60 lines where the webhook takes nothing, of a notice every minute", async () => {
    let answers = 0;
    const lines = await liveADay(({ hand, log }) => [
      createNotifyJob({
        webhook: {
          url: new URL("http://127.0.0.1:1/hook"),
          key: WEBHOOK_KEY,
          format: "standard",
          wanted: { types: null, projects: null },
        },
        staleAfterMs: 1000,
        clock: hand,
        log,
        database: keptDatabase("postgres://ready"),
        async notify() {
          // Between two tries there is a round with nothing to send.
          const failed = answers++ % 3 === 0 ? 1 : 0;
          return {
            delivered: 0,
            failed,
            error: failed ? `answered ${500 + (answers % 4)}` : null,
            waiting: 9,
          };
        },
      }),
    ]);
    expect(lines[0]).toMatchObject({ msg: "run failed", job: "notify", error: "answered 501", waiting: 9 });
    expect(lines.filter(({ msg }) => msg === "all is well again")).toEqual([]);
    expect(lines.length).toBeLessThan(60);
  });

  it("has at most 60 lines where the service is away, by one cause and another, and the first ones lead to it", async () => {
    const CAUSES = [502, 503, 504];
    let status = 0;
    await using quick = await startQuickWorld(
      { users: 2, projects: 2, versions: 2, files: 2, builds: 10, startAt: new Date(), clockSteps: false },
      (_, next) => (status === 0 ? next() : new Response("away", { status })),
    );
    await quick.sync({ kind: "full" });
    let begun = 0;
    const underway = new Set<Promise<unknown>>();
    /** The first runs are real, one of each cause; the others end as these did. */
    const inTurn = <O, R>(run: (options: O) => Promise<R>) => {
      const ends = new Map<number, R>();
      return async (options: O) => {
        status = CAUSES[begun++ % CAUSES.length] ?? 0;
        const running = Promise.resolve(ends.get(status) ?? run(options));
        underway.add(running);
        const end = await running.finally(() => underway.delete(running));
        ends.set(status, end);
        return end;
      };
    };
    const lines = await liveADay(
      ({ hand, log }) => {
        const clock = { now: hand.now, sleep: async () => {} };
        const settings = { ...DEFAULTS, baseUrl: quick.baseUrl, ratePerSecond: 0, retries: 2 };
        const shared = {
          clock,
          log,
          timezone: "Etc/UTC",
          settings,
          assertMayRun: async () => {},
          pace: createHostPace({ ratePerSecond: 0, clock }),
          database: keptDatabase(quick.databaseUrl),
        };
        return [
          createNightlySync({ ...shared, cron: DEFAULTS.syncCron, runSync: inTurn(runSync) }),
          createWatchJob({ ...shared, cron: DEFAULTS.watchCron, runWatchRound: inTurn(runWatchRound) }),
        ];
      },
      async () => {
        while (underway.size > 0) await Promise.allSettled(underway);
      },
    );
    expect(begun).toBeGreaterThan(1400);
    expect(lines.find(({ level }) => Number(level) > 30)).toMatchObject({
      msg: "run failed",
      job: expect.any(String),
      next_run_at: expect.any(String),
      error: expect.stringContaining("answered 50"),
    });
    expect(lines.length).toBeLessThan(60);
  });
});
