import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { createSchedule } from "../../../src/cli/worker/worker.ts";
import { cpuMsOf } from "../../support/cpu-time.ts";
import { createHandClock, settle } from "../../support/fake-clock.ts";

const DAY_MS = 86_400_000;

/** A schedule on a clock whose time of day can be put ahead of the time that passes. */
function setup({ now = "2026-03-10T12:00:00Z", cron = "17 2 * * *", timezone = "Etc/UTC" } = {}) {
  const passing = createHandClock(now);
  let aheadMs = 0;
  const clock = { ...passing, now: () => new Date(passing.now().getTime() + aheadMs) };
  const ticks: string[] = [];
  const schedule = createSchedule(clock)({ cron, timezone }, () => {
    ticks.push(clock.now().toISOString().slice(0, 19));
  });
  const setAhead = (ms: number) => {
    aheadMs = ms;
  };
  return { clock: passing, ticks, schedule, setAhead };
}

describe("a schedule", () => {
  it("ticks at each due time, and no more when it was stopped", async () => {
    const { clock, ticks, schedule } = setup();
    await clock.advance(2 * DAY_MS);
    expect(ticks).toEqual(["2026-03-11T02:17:00", "2026-03-12T02:17:00"]);
    schedule.stop();
    schedule.stop();
    await clock.advance(DAY_MS);
    expect(ticks).toHaveLength(2);
  });

  it("ticks each ten seconds, where its line says so", async () => {
    const { clock, ticks } = setup({ cron: "*/10 * * * * *" });
    await clock.advance(30_000);
    expect(ticks).toEqual(["2026-03-10T12:00:10", "2026-03-10T12:00:20", "2026-03-10T12:00:30"]);
  });

  it.each([
    ["a month", 30],
    ["twenty years", 20 * 365],
  ])("ticks once when the clock jumps forward by %s, and goes on from there", async (_, days) => {
    const { clock, ticks, setAhead } = setup({ cron: "* * * * *" });
    await settle();
    setAhead(days * DAY_MS);
    // To compute each of the ten million minutes of twenty years takes some.
    expect(await cpuMsOf(() => clock.advance(10_000))).toBeLessThan(1000);
    expect(ticks).toHaveLength(1);
    await clock.advance(60_000);
    expect(ticks).toHaveLength(2);
  });

  it("ticks at the right hour when the clock, which stood ten years ahead, was put right", async () => {
    const { clock, ticks, setAhead } = setup();
    setAhead(3650 * DAY_MS);
    await clock.advance(20_000);
    setAhead(0);
    ticks.length = 0;
    await clock.moveTo("2026-03-11T12:00:00Z");
    expect(ticks).toEqual(["2026-03-11T02:17:00"]);
  });

  it("ticks once for a due time though the clock is put back a little just then", async () => {
    const { clock, ticks, setAhead } = setup();
    await clock.moveTo("2026-03-11T02:17:00Z");
    await settle();
    setAhead(-30_000);
    await clock.advance(DAY_MS / 2);
    expect(ticks).toEqual(["2026-03-11T02:17:00"]);
  });

  it("leaves an error of its work unhandled, which ends the process: nothing would run any more", async () => {
    const listeners = process.rawListeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    try {
      const clock = createHandClock("2026-03-10T12:00:00Z");
      const unhandled = once(process, "unhandledRejection");
      createSchedule(clock)({ cron: "* * * * *", timezone: "Etc/UTC" }, () => {
        throw new Error("a bug");
      });
      await clock.advance(60_000);
      expect(await unhandled).toMatchObject([{ message: "a bug" }, {}]);
    } finally {
      for (const listener of listeners) process.on("unhandledRejection", listener as () => void);
    }
  });

  it("ticks an hour late in the night when the clocks jump over its time", async () => {
    const { clock, ticks } = setup({ now: "2026-03-28T12:00:00Z", timezone: "Europe/Berlin" });
    await clock.moveTo("2026-03-29T12:00:00Z");
    expect(ticks).toEqual(["2026-03-29T01:17:00"]);
  });
});
