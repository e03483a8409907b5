import { describe, expect, it, onTestFinished } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { createWorker, type Job, type JobEnd, type JobOutcome } from "../../../src/cli/worker/worker.ts";
import { createHandClock, settle } from "../../support/fake-clock.ts";

const MINUTE_MS = 60_000;

/** A worker with one job whose runs the test ends, and a schedule whose ticks it gives. */
function setup({ lastGoodAt }: { lastGoodAt?: () => Promise<Date | null> } = {}) {
  const clock = createHandClock("2026-03-10T12:00:00Z");
  const ticks = new Set<() => void>();
  const runs: {
    at: string;
    signal: AbortSignal;
    rest: Parameters<Job["run"]>[1];
    end(outcome: JobOutcome | Error): Promise<void>;
  }[] = [];
  const job: Job = {
    name: "sync",
    cron: "17 2 * * *",
    timezone: "Etc/UTC",
    retryAfterMs: [5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS],
    lastGoodAt: lastGoodAt ?? (async () => clock.now()),
    run: (signal, rest) =>
      new Promise<JobEnd>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        const end = (outcome: JobOutcome | Error) => {
          if (outcome instanceof Error) reject(outcome);
          else resolve({ outcome, trouble: outcome === "failed" ? "it failed" : null });
          return settle();
        };
        runs.push({ at: clock.now().toISOString().slice(0, 16), signal, rest, end });
      }),
  };
  const worker = createWorker({
    jobs: [job],
    clock,
    log: silentLog,
    schedule(_line, onTick) {
      ticks.add(onTick);
      return { stop: () => void ticks.delete(onTick) };
    },
  });
  const tick = () => {
    for (const onTick of ticks) onTick();
    return settle();
  };
  onTestFinished(() => void worker.stop());
  return { clock, worker, runs, tick, ticks, started: () => runs.map(({ at }) => at) };
}

async function begin(options?: Parameters<typeof setup>[0]) {
  const made = setup(options);
  made.worker.start();
  await settle();
  return made;
}

describe("a tick during a run", () => {
  it("ends what may wait, and runs again", async () => {
    const { worker, runs, tick } = await begin();
    await tick();
    const rest = runs[0]?.rest?.();
    expect(rest?.aborted).toBe(false);
    await tick();
    expect(rest?.aborted).toBe(true);
    expect(runs[0]?.signal.aborted).toBe(false);
    expect(runs).toHaveLength(1);
    await runs[0]?.end("done");
    expect(runs).toHaveLength(2);
    await runs[1]?.end("done");
    expect(runs).toHaveLength(2);
    expect(worker.states()).toEqual({ sync: "waiting" });
  });
});

describe("a missed night", () => {
  const LATE = ["2026-03-10T12:00"];
  it.each<[what: string, lastGoodAt: () => Promise<Date | null>, started: string[]]>([
    ["no good run began since it was due", async () => new Date("2026-03-10T02:16:00Z"), LATE],
    ["there was no run yet", async () => null, LATE],
    ["the last good run is not known", () => Promise.reject(new Error("no rights")), LATE],
    ["a good run began after it was due: there is none", async () => new Date("2026-03-10T02:17:00Z"), []],
  ])("is run late at the start where %s", async (_what, lastGoodAt, wanted) => {
    const { worker, started } = await begin({ lastGoodAt });
    expect(started()).toEqual(wanted);
    expect(worker.states()).toEqual({ sync: wanted.length > 0 ? "running" : "waiting" });
  });
});

describe("a tick", () => {
  it("begins a run, and no second one for the same due time", async () => {
    const { clock, runs, tick } = await begin();
    await clock.moveTo("2026-03-11T02:17:00Z");
    await tick();
    expect(runs).toHaveLength(1);
    await runs[0]?.end("done");
    await clock.moveTo("2026-03-11T12:00:00Z");
    expect(runs).toHaveLength(1);
    await tick();
    expect(runs).toHaveLength(2);
  });

  it("leaves a run alone that is still under way", async () => {
    const { worker, runs, tick } = await begin();
    await tick();
    await tick();
    expect(runs).toHaveLength(1);
    await runs[0]?.end("done");
    expect(worker.states()).toEqual({ sync: "waiting" });
  });

  it("waits for the next one when another process holds the lock", async () => {
    const { clock, runs, tick } = await begin();
    await tick();
    await runs[0]?.end("busy");
    await clock.advance(10 * 60 * MINUTE_MS);
    expect(runs).toHaveLength(1);
  });
});

describe("a failed run", () => {
  it("is tried again after 5, 15 and 60 minutes, then waits for its next tick", async () => {
    const { worker, clock, runs, tick, started } = await begin();
    await tick();
    await runs[0]?.end("failed");
    expect(worker.states()).toEqual({ sync: "backing off" });
    for (const minutes of [5, 15, 60]) {
      await clock.advance(minutes * MINUTE_MS);
      await runs.at(-1)?.end(new Error("it broke"));
    }
    expect(started()).toEqual([
      "2026-03-10T12:00",
      "2026-03-10T12:05",
      "2026-03-10T12:20",
      "2026-03-10T13:20",
    ]);
    await clock.advance(6 * 60 * MINUTE_MS);
    expect(runs).toHaveLength(4);
    await tick();
    expect(runs).toHaveLength(5);
  });

  it("begins its waits anew after a good run", async () => {
    const { clock, runs, tick } = await begin();
    await tick();
    await runs[0]?.end("failed");
    await clock.advance(5 * MINUTE_MS);
    await runs[1]?.end("done");
    await tick();
    await runs[2]?.end("failed");
    await clock.advance(5 * MINUTE_MS);
    expect(runs).toHaveLength(4);
  });

  it("runs at once when a tick comes while it waits, and then begins its waits anew", async () => {
    const { clock, runs, tick } = await begin();
    await tick();
    await runs[0]?.end("failed");
    await tick();
    expect(runs).toHaveLength(2);
    await runs[1]?.end("failed");
    await clock.advance(5 * MINUTE_MS);
    expect(runs).toHaveLength(3);
  });
});

describe("start and stop", () => {
  it("stop aborts the run under way and resolves when it has ended", async () => {
    const { worker, runs, tick, ticks } = await begin();
    await tick();
    const reason = new Error("enough");
    const stopped = worker.stop(reason);
    expect(runs[0]?.signal.reason).toBe(reason);
    expect(await stopped).toBe(true);
    expect(worker.states()).toEqual({ sync: "ended" });
    expect(ticks.size).toBe(0);
  });

  it("may be called twice and in any order", async () => {
    const { worker, started, tick } = setup({ lastGoodAt: async () => null });
    worker.start();
    worker.start();
    await settle();
    expect(started()).toHaveLength(1);
    expect(await Promise.all([worker.stop(), worker.stop()])).toEqual([true, true]);
    worker.start();
    await tick();
    expect(started()).toHaveLength(1);

    const never = setup({ lastGoodAt: async () => null });
    expect(await never.worker.stop()).toBe(true);
    never.worker.start();
    await never.tick();
    expect(never.started()).toEqual([]);
  });

  it("stop does not wait for ever for a run that hangs", async () => {
    const clock = createHandClock("2026-03-10T12:00:00Z");
    let onTick = () => {};
    const worker = createWorker({
      jobs: [{ name: "deaf", cron: "* * * * *", timezone: "Etc/UTC", run: () => new Promise(() => {}) }],
      clock,
      log: silentLog,
      schedule(_line, listener) {
        onTick = listener;
        return { stop: () => {} };
      },
    });
    worker.start();
    await settle();
    onTick();
    await settle();
    const stopped = worker.stop();
    await clock.advance(7000);
    expect(await stopped).toBe(false);
  });
});
