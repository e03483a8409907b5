import { describe, expect, it } from "vitest";
import { ageMs, isAhead, systemClock } from "../../src/base/clock.ts";
import { StoppedError } from "../../src/base/errors.ts";

describe("systemClock", () => {
  it("tells the time", () => {
    const before = Date.now();
    const now = systemClock.now().getTime();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it("wakes after the time asked for, and lets go of the signal", async () => {
    const { signal } = new AbortController();
    const startedAt = performance.now();
    await systemClock.sleep(20, signal);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(18);
  });

  it("wakes at once when stopped, with the signal's own reason", async () => {
    const stop = new AbortController();
    const sleeping = systemClock.sleep(3_600_000, stop.signal);
    stop.abort(new StoppedError("SIGTERM"));
    await expect(sleeping).rejects.toBe(stop.signal.reason);
  });

  it("does not fall asleep once it is stopped", async () => {
    const signal = AbortSignal.abort(new StoppedError("SIGINT"));
    await expect(systemClock.sleep(3_600_000, signal)).rejects.toBe(signal.reason);
  });
});

describe("the age of a moment", () => {
  const now = new Date("2024-05-15T12:00:00Z");
  it.each([
    ["2024-05-15T11:00:00Z", 3_600_000, false],
    ["2024-05-15T12:00:00Z", 0, false],
    ["2024-05-15T12:05:00Z", 0, false],
    ["2024-05-15T12:05:01Z", Number.POSITIVE_INFINITY, true],
    ["2034-05-15T12:00:00Z", Number.POSITIVE_INFINITY, true],
    [null, Number.POSITIVE_INFINITY, false],
  ])("at noon that of %s is %d ms, and it lies ahead: %s", (moment, age, ahead) => {
    expect(ageMs(moment, now)).toBe(age);
    expect(isAhead(moment, now)).toBe(ahead);
  });
});
