import { describe, expect, it } from "vitest";
import { createDueTimes } from "../../src/schedule/due-times.ts";

describe("last due time", () => {
  it.each([
    ["the same day", "17 2 * * *", "Etc/UTC", "2026-03-10T12:00:00Z", "2026-03-10T02:17:00.000Z"],
    ["the day before", "17 2 * * *", "Etc/UTC", "2026-03-10T02:16:59Z", "2026-03-09T02:17:00.000Z"],
    ["this very second", "17 2 * * *", "Etc/UTC", "2026-03-10T02:17:00Z", "2026-03-10T02:17:00.000Z"],
    ["east of Greenwich", "17 2 * * *", "Asia/Kolkata", "2026-03-10T00:00:00Z", "2026-03-09T20:47:00.000Z"],
    [
      "west of Greenwich",
      "17 22 * * *",
      "America/Chicago",
      "2026-03-10T02:00:00Z",
      "2026-03-09T03:17:00.000Z",
    ],
    [
      "a day ahead of UTC",
      "0 1 * * *",
      "Pacific/Kiritimati",
      "2026-03-10T12:00:00Z",
      "2026-03-10T11:00:00.000Z",
    ],
    ["summer time", "17 2 * * *", "Europe/Berlin", "2026-07-10T12:00:00Z", "2026-07-10T00:17:00.000Z"],
    ["weekdays alone", "0 3 * * 1-5", "Etc/UTC", "2026-03-08T12:00:00Z", "2026-03-06T03:00:00.000Z"],
    ["the last of a month", "0 0 L * *", "Etc/UTC", "2026-03-15T00:00:00Z", "2026-02-28T00:00:00.000Z"],
    ["a leap day", "0 0 29 2 *", "Etc/UTC", "2027-03-01T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["a name", "@daily", "Etc/UTC", "2026-03-15T07:00:00Z", "2026-03-15T00:00:00.000Z"],
    ["seconds", "*/10 * * * * *", "Etc/UTC", "2026-03-15T07:00:19Z", "2026-03-15T07:00:10.000Z"],
  ])("%s", (_name, cron, zone, now, expected) => {
    expect(createDueTimes(cron, zone).last(new Date(now))?.toISOString()).toBe(expected);
  });

  it.each([
    ["Europe/Berlin", "2026-03-29T01:16:59Z", "2026-03-28T01:17:00.000Z"],
    ["Europe/Berlin", "2026-03-29T01:17:00Z", "2026-03-29T01:17:00.000Z"],
    ["America/Chicago", "2026-03-08T08:16:59Z", "2026-03-07T08:17:00.000Z"],
    ["America/Chicago", "2026-03-08T08:17:00Z", "2026-03-08T08:17:00.000Z"],
  ])("a time that the clocks jump over in %s is due an hour later (%s)", (zone, now, expected) => {
    expect(createDueTimes("17 2 * * *", zone).last(new Date(now))?.toISOString()).toBe(expected);
  });

  it.each([
    ["Europe/Berlin", "17 2 * * *", "2026-10-25T12:00:00Z", "2026-10-25T01:17:00.000Z"],
    ["America/Chicago", "17 1 * * *", "2026-11-01T12:00:00Z", "2026-11-01T06:17:00.000Z"],
  ])("a time that comes twice in %s is due once", (zone, cron, now, expected) => {
    expect(createDueTimes(cron, zone).last(new Date(now))?.toISOString()).toBe(expected);
  });

  it("a line that never came round was never due", () => {
    // 29 February that is the first Monday of its month: the 29th never is.
    expect(createDueTimes("0 0 29 2 1#1", "Etc/UTC").last(new Date("2026-01-01T00:00:00Z"))).toBeNull();
  });

  it("a line with every second of a day is looked up at once, on a day of change too", () => {
    const due = createDueTimes("* * * * * *", "Europe/Berlin");
    expect(due.last(new Date("2026-03-29T00:59:59Z"))?.toISOString()).toBe("2026-03-29T00:59:59.000Z");
  });
});
