import { describe, expect, it } from "vitest";
import { ageMs, createZoneOffset, isAhead, systemClock } from "../../src/base/clock.ts";
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

describe("createZoneOffset", () => {
  it.each([
    ["Etc/UTC", "2025-06-01T00:00:00Z", 0],
    ["America/Chicago", "2025-03-09T07:59:59Z", -360],
    ["America/Chicago", "2025-03-09T08:00:00Z", -300],
    ["Asia/Kathmandu", "2025-06-01T00:00:00Z", 345],
    ["America/St_Johns", "2025-01-01T00:00:00Z", -210],
    ["Etc/GMT+6", "2025-06-01T00:00:00Z", -360],
  ])("is in %s at %s %i minutes", (zone, at, minutes) => {
    expect(createZoneOffset(zone)(new Date(at))).toBe(minutes);
  });

  it("is 0 and not -0 for UTC", () => {
    expect(Object.is(createZoneOffset("Etc/UTC")(new Date()), 0)).toBe(true);
  });
});
