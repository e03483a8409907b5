import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDueTimes } from "../../src/base/due-times.ts";

const DAILY = "17 2 * * *";

describe("last due time", () => {
  it.each([
    ["the same day", DAILY, "Etc/UTC", "2026-03-10T12:00:00Z", "2026-03-10T02:17:00Z"],
    ["the day before", DAILY, "Etc/UTC", "2026-03-10T02:16:59Z", "2026-03-09T02:17:00Z"],
    ["this very second", DAILY, "Etc/UTC", "2026-03-10T02:17:00Z", "2026-03-10T02:17:00Z"],
    ["east of Greenwich", DAILY, "Asia/Kolkata", "2026-03-10T00:00:00Z", "2026-03-09T20:47:00Z"],
    ["west of Greenwich", "17 22 * * *", "America/Chicago", "2026-03-10T02:00:00Z", "2026-03-09T03:17:00Z"],
    ["a day ahead of UTC", "0 1 * * *", "Pacific/Kiritimati", "2026-03-10T12:00:00Z", "2026-03-10T11:00:00Z"],
    ["summer time", DAILY, "Europe/Berlin", "2026-07-10T12:00:00Z", "2026-07-10T00:17:00Z"],
    ["weekdays alone", "0 3 * * 1-5", "Etc/UTC", "2026-03-08T12:00:00Z", "2026-03-06T03:00:00Z"],
    ["the last of a month", "0 0 L * *", "Etc/UTC", "2026-03-15T00:00:00Z", "2026-02-28T00:00:00Z"],
    ["a leap day", "0 0 29 2 *", "Etc/UTC", "2027-03-01T00:00:00Z", "2024-02-29T00:00:00Z"],
    ["a name", "@daily", "Etc/UTC", "2026-03-15T07:00:00Z", "2026-03-15T00:00:00Z"],
    ["seconds", "*/10 * * * * *", "Etc/UTC", "2026-03-15T07:00:19Z", "2026-03-15T07:00:10Z"],
  ])("%s", (_name, cron, zone, now, expected) => {
    expect(createDueTimes(cron, zone).last(new Date(now))).toEqual(new Date(expected));
  });

  it.each([
    ["Europe/Berlin", "2026-03-29T01:16:59Z", "2026-03-28T01:17:00Z"],
    ["Europe/Berlin", "2026-03-29T01:17:00Z", "2026-03-29T01:17:00Z"],
    ["America/Chicago", "2026-03-08T08:16:59Z", "2026-03-07T08:17:00Z"],
    ["America/Chicago", "2026-03-08T08:17:00Z", "2026-03-08T08:17:00Z"],
  ])("a time that the clocks jump over in %s is due an hour later (%s)", (zone, now, expected) => {
    expect(createDueTimes(DAILY, zone).last(new Date(now))).toEqual(new Date(expected));
  });

  it.each([
    ["Europe/Berlin", DAILY, "2026-10-25T12:00:00Z", "2026-10-25T01:17:00Z"],
    ["America/Chicago", "17 1 * * *", "2026-11-01T12:00:00Z", "2026-11-01T06:17:00Z"],
  ])("a time that comes twice in %s is due once", (zone, cron, now, expected) => {
    expect(createDueTimes(cron, zone).last(new Date(now))).toEqual(new Date(expected));
  });

  it.each([
    ["Europe/Berlin", "* * * * *", "2026-10-25T00:50:00Z"],
    ["Europe/Berlin", "*/15 * * * *", "2026-10-25T00:45:00Z"],
    ["Europe/Berlin", "@hourly", "2026-10-25T00:59:00Z"],
    ["America/Chicago", "7 * * * *", "2026-11-01T06:07:00Z"],
    // By half an hour.
    ["Australia/Lord_Howe", "*/10 * * * *", "2026-04-04T14:30:00Z"],
  ])("a line of each hour in %s, %s, is due in both hours that have one name", (zone, cron, from) => {
    const due = createDueTimes(cron, zone);
    const utc = createDueTimes(cron, "Etc/UTC");
    for (let now = new Date(from); now.getTime() < Date.parse(from) + 80 * 60_000; ) {
      const next = due.next(now);
      expect(next).toEqual(utc.next(now));
      expect(due.last(new Date((next?.getTime() ?? 0) - 1))).toEqual(
        utc.last(new Date((next?.getTime() ?? 0) - 1)),
      );
      now = next ?? new Date(Number.NaN);
    }
  });

  it("a line that never came round was never due", () => {
    // The workday nearest to 31 February.
    expect(createDueTimes("0 0 31W 2 *", "Etc/UTC").last(new Date("2026-01-01T00:00:00Z"))).toBeNull();
  });

  it("a line with every second of a day is looked up at once, on a day of change too", () => {
    const due = createDueTimes("* * * * * *", "Europe/Berlin");
    expect(due.last(new Date("2026-03-29T00:59:59Z"))?.toISOString()).toBe("2026-03-29T00:59:59.000Z");
  });
});

describe("a line with both day fields", () => {
  const nextDays = (cron: string, from: string, count: number) => {
    const due = createDueTimes(cron, "Etc/UTC");
    const days: string[] = [];
    for (let now = new Date(from); days.length < count; ) {
      now = due.next(now) ?? new Date(Number.NaN);
      days.push(now.toISOString().slice(0, 10));
    }
    return days;
  };

  it.each([
    // A Saturday. Cron runs on each Sunday and on each eighth.
    ["0 3 8 * 0", ["2026-11-29", "2026-12-06", "2026-12-08", "2026-12-13"]],
    ["0 3 1,15 * 1", ["2026-11-30", "2026-12-01", "2026-12-07", "2026-12-14", "2026-12-15"]],
    ["0 0 3 1,15 * 1", ["2026-11-30", "2026-12-01", "2026-12-07", "2026-12-14", "2026-12-15"]],
    ["0 3 1-31 * 1", ["2026-11-29", "2026-11-30", "2026-12-01"]],
    ["0 3 L * 5L", ["2026-11-30", "2026-12-25", "2026-12-31"]],
    ["0 3 24 dec mon", ["2026-12-07", "2026-12-14", "2026-12-21", "2026-12-24", "2026-12-28"]],
    // One of the two says nothing.
    ["0 3 * * 1", ["2026-11-30", "2026-12-07"]],
    ["0 3 8 * ?", ["2026-12-08", "2027-01-08"]],
    ["0 3 */1 * 1", ["2026-11-30", "2026-12-07"]],
    ["0 3 */10 * *", ["2026-12-01", "2026-12-11"]],
  ])("is due on either, as for cron: %s", (cron, days) => {
    expect(nextDays(cron, "2026-11-28T12:00:00Z", days.length)).toEqual(days);
  });

  it("was due last on either", () => {
    const last = createDueTimes("0 3 1,15 * 1", "Etc/UTC").last(new Date("2026-12-16T00:00:00Z"));
    expect(last?.toISOString()).toBe("2026-12-15T03:00:00.000Z");
  });
});

describe("next due time", () => {
  it("times of a day that was left out are due on the next one, also those that are still to come there", () => {
    // Samoa had no Friday, 30 December 2011.
    const due = createDueTimes("0 0,23 * * 5", "Pacific/Apia");
    const atFive = new Date("2011-12-30T15:00:00Z");
    expect(due.last(atFive)?.toISOString()).toBe("2011-12-30T10:00:00.000Z");
    expect(due.next(atFive)?.toISOString()).toBe("2011-12-31T09:00:00.000Z");
  });

  it("a line that never comes round is never due", () => {
    expect(createDueTimes("0 0 31W 2 *", "Etc/UTC").next(new Date("2026-01-01T00:00:00Z"))).toBeNull();
  });

  // Each has a change of its clocks at the moment beside it: of an hour at night or at midnight, of half an hour, of a day.
  const changes = fc.constantFrom(
    ["Europe/Berlin", "2026-03-29T01:00:00Z"],
    ["Europe/Berlin", "2026-10-25T01:00:00Z"],
    ["America/Chicago", "2026-03-08T08:00:00Z"],
    ["America/Chicago", "2026-11-01T07:00:00Z"],
    ["America/Santiago", "2026-04-05T03:00:00Z"],
    ["America/Santiago", "2026-09-06T04:00:00Z"],
    ["Asia/Beirut", "2026-03-28T22:00:00Z"],
    ["Asia/Beirut", "2026-10-24T21:00:00Z"],
    ["Australia/Lord_Howe", "2026-04-04T15:00:00Z"],
    ["Australia/Lord_Howe", "2026-10-03T15:30:00Z"],
    ["Pacific/Apia", "2011-12-30T10:00:00Z"],
  );
  const part = (most: number, ...more: string[]) =>
    fc.oneof(fc.constantFrom("*", ...more), fc.integer({ min: 0, max: most }).map(String));
  const lines = fc
    .tuple(
      part(59, "*/15", "0,30"),
      part(23, "0-3", "0,23"),
      fc.constantFrom("*", "*", "1", "L", "1,15"),
      fc.constantFrom("*", "*", "0", "1-5"),
    )
    .map(([minute, hour, day, weekday]) => `${minute} ${hour} ${day} * ${weekday}`);

  it("is the first moment for which the last due time is another one, over any change of the clocks", () => {
    const aDay = fc.integer({ min: -86_400, max: 86_400 });
    const property = fc.property(changes, lines, aDay, ([zone, change], cron, seconds) => {
      const due = createDueTimes(cron, zone ?? "");
      const now = new Date(Date.parse(change ?? "") + seconds * 1000);
      const next = due.next(now);
      if (next === null) throw new Error("each of these lines comes round");
      expect(next.getTime()).toBeGreaterThan(now.getTime());
      expect(due.last(next)).toEqual(next);
      expect(due.last(new Date(next.getTime() - 1000))).toEqual(due.last(now));
    });
    fc.assert(property, { numRuns: 80 });
  });
});
