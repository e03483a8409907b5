import { describe, expect, test } from "vitest";
import { createLocalDates } from "../../src/simulate/local-dates.ts";

const micros = (iso: string): number => Date.parse(iso) * 1000;

describe("local dates", () => {
  test.each([
    ["Etc/UTC", "2024-05-15T12:00:00Z", 0, "2024-05-15T12:00:00"],
    ["Etc/UTC", "2024-05-15T12:00:00Z", 1, "2024-05-15T12:00:00.000001"],
    ["America/Chicago", "2024-01-15T03:30:00Z", 120_000, "2024-01-14T21:30:00.120000"],
    ["America/Chicago", "2024-07-15T03:30:00Z", 0, "2024-07-14T22:30:00"],
    ["America/Chicago", "2024-03-10T07:59:59Z", 999_999, "2024-03-10T01:59:59.999999"],
    ["America/Chicago", "2024-03-10T08:00:00Z", 0, "2024-03-10T03:00:00"],
    ["Asia/Kathmandu", "2024-07-15T00:00:00Z", 0, "2024-07-15T05:45:00"],
  ])("in %s, %s and %i µs read %s", (zone, iso, more, expected) => {
    const dates = createLocalDates(zone);
    expect(dates.write(dates.toLocal(micros(iso) + more))).toBe(expected);
  });

  test("the hour after summer time is gone through twice", () => {
    const dates = createLocalDates("America/Chicago");
    const first = dates.toLocal(micros("2024-11-03T06:30:00Z"));
    expect(dates.toLocal(micros("2024-11-03T07:30:00Z"))).toBe(first);
  });

  test("a zone that nobody knows is refused", () => {
    expect(() => createLocalDates("Mars/Olympus")).toThrow(RangeError);
  });
});
