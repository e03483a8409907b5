import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createNotifyJob } from "../../../src/cli/worker/follow-up-jobs.ts";
import { createWorker, DONE } from "../../../src/cli/worker/worker.ts";
import type { NotifyOptions } from "../../../src/notify/notify.ts";
import { connectionsOf, keptDatabase } from "../../support/connections.ts";
import { settle } from "../../support/fake-clock.ts";
import { WEBHOOK_KEY } from "../../support/webhook-receiver.ts";

/** A schedule whose ticks are in hand, one for each job. */
function createTicks() {
  const ticks: (() => void)[] = [];
  const schedule = (_line: unknown, onTick: () => void) => {
    ticks.push(onTick);
    return { stop: () => {} };
  };
  return { ticks, schedule };
}

function createJob({ holds = false } = {}) {
  const rounds: NotifyOptions[] = [];
  const ends: (() => void)[] = [];
  const job = createNotifyJob({
    webhook: {
      url: new URL("http://127.0.0.1:1/"),
      key: WEBHOOK_KEY,
      format: "standard",
      wanted: { types: null, projects: null },
    },
    staleAfterMs: 1000,
    database: keptDatabase("postgres://ready"),
    async notify(options) {
      rounds.push(options);
      if (holds) await new Promise<void>((resolve) => ends.push(resolve));
      return { delivered: 0, failed: 0, error: null, waiting: 0 };
    },
    clock: systemClock,
    log: silentLog,
  });
  return { job, rounds, ends };
}

describe("sending notices as a job", () => {
  it("is a round at the start, at each tick, and after each run, well ended or not", async () => {
    const { job, rounds } = createJob();
    const { ticks, schedule } = createTicks();
    const worker = createWorker({ jobs: [job], clock: systemClock, log: silentLog, schedule });
    worker.start();
    try {
      await settle();
      expect(rounds).toMatchObject([{ sql: connectionsOf("postgres://ready").sql, staleAfterMs: 1000 }]);
      ticks[0]?.();
      await settle();
      expect(rounds).toHaveLength(2);
      expect(await job.afterRun(async (n: number) => n + 1)(41)).toBe(42);
      await settle();
      expect(rounds).toHaveLength(3);
      const broken = job.afterRun(() => Promise.reject(new Error("the run broke")));
      await expect(broken({})).rejects.toThrow("the run broke");
      await settle();
      expect(rounds).toHaveLength(4);
      ticks[0]?.();
      await settle();
      expect(rounds).toHaveLength(5);
    } finally {
      expect(await worker.stop()).toBe(true);
    }
  });

  it("looks once more for runs that ended during a round", async () => {
    const { job, rounds, ends } = createJob({ holds: true });
    const stop = new AbortController();
    const tick = new AbortController();
    const working = job.run(stop.signal, () => tick.signal);
    await settle();
    await job.afterRun(async () => {})({});
    await job.afterRun(async () => {})({});
    expect(rounds).toHaveLength(1);
    ends[0]?.();
    await settle();
    expect(rounds).toHaveLength(2);
    ends[1]?.();
    await settle();
    expect(rounds).toHaveLength(2);
    tick.abort();
    expect(await working).toEqual(DONE);
  });

  it("delays no other job, however long a round lasts", async () => {
    const { job, ends } = createJob({ holds: true });
    let runs = 0;
    const { ticks, schedule } = createTicks();
    const run = job.afterRun(async () => {
      runs++;
      return DONE;
    });
    const other = { name: "watch", cron: "* * * * *", timezone: "Etc/UTC", run };
    const worker = createWorker({ jobs: [job, other], clock: systemClock, log: silentLog, schedule });
    worker.start();
    for (let n = 0; n < 3; n++) {
      await settle();
      ticks[1]?.();
    }
    await settle();
    expect(runs).toBe(3);
    expect(ends).toHaveLength(1);
    ends[0]?.();
    expect(await worker.stop()).toBe(true);
  });

  it("ends with the reason of a stop", async () => {
    const { job } = createJob();
    const stop = new AbortController();
    const working = job.run(stop.signal, () => new AbortController().signal);
    await settle();
    stop.abort(new Error("stopped"));
    await expect(working).rejects.toThrow("stopped");
  });
});
