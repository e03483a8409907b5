import { describe, expect, it } from "vitest";
import { spanNoun, spansOf } from "../../../src/page/parts/charts.ts";
import { type PageMoment, pageMoment } from "../../../src/page/parts/freshness.ts";
import {
  dayNumber,
  daysName,
  dayText,
  readPeriodChoice,
  resolvePeriod,
  shortenPeriod,
} from "../../../src/page/parts/period.ts";

const NOW = new Date("2026-11-22T10:00:00Z");

/** The moment of a page whose builds were read up to `asOf`. */
function momentOf(asOf: string): PageMoment {
  return pageMoment({ asOf: new Date(asOf) } as PageMoment["freshness"], NOW);
}

/** Such a period as its first day, its last, the first of the period before, and how many days it has. */
function periodOf(query: string, firstDay = "2026-01-01", asOf = "2026-11-22T09:59:00Z") {
  const period = resolvePeriod(readPeriodChoice(new URLSearchParams(query)), firstDay, momentOf(asOf));
  if (period === null) return null;
  const { first, last, before, days } = period;
  return [dayText(first), dayText(last), before && dayText(before.first), days];
}

describe("the period of a page", () => {
  it("is the last 14 days that were read whole, and the 14 before", () => {
    expect(periodOf("")).toEqual(["2026-11-08", "2026-11-21", "2026-10-25", 14]);
    // Read until yesterday evening, so yesterday is not whole.
    expect(periodOf("", "2026-01-01", "2026-11-21T20:00:00Z")?.[1]).toBe("2026-11-20");
  });

  it.each([
    ["since=2026-11-20&until=2026-11-20", ["2026-11-20", "2026-11-20", "2026-11-19", 1]],
    ["since=2026-11-20T12:00Z&until=2026-11-21T00:00Z", ["2026-11-20", "2026-11-20", "2026-11-19", 1]],
    ["since=2026-11-21&until=9999-12-31", ["2026-11-21", "2026-11-22", "2026-11-19", 2]],
    // A day that is not over is shown where it alone is asked for.
    ["since=2026-11-22", ["2026-11-22", "2026-11-22", "2026-11-21", 1]],
    ["since=2026-11-23", null],
  ])("takes days and moments, and an end that is not yet: %s", (query, period) => {
    expect(periodOf(query)).toEqual(period);
  });

  it("is refused for a day that no month has", () => {
    expect(() => periodOf("since=2026-02-30")).toThrow(/give a day/);
  });

  it("begins with the first known day, and has no period before unless all of that is known", () => {
    expect(periodOf("since=1970-01-01", "2026-11-01")).toEqual(["2026-11-01", "2026-11-21", null, 21]);
    expect(periodOf("", "2026-10-26")?.[2]).toBeNull();
    expect(periodOf("", "2026-10-25")?.[2]).toBe("2026-10-25");
    expect(periodOf("until=2026-10-01", "2026-11-01")).toBeNull();
    // A mirror that knows nothing but today shows that.
    expect(periodOf("", "2026-11-22")?.slice(0, 2)).toEqual(["2026-11-22", "2026-11-22"]);
  });

  it("is shortened from its end", () => {
    const choice = { since: "2026-02-01", until: undefined };
    const period = resolvePeriod(choice, "2026-01-01", momentOf("2026-11-22T09:00:00Z"));
    if (period === null) throw new Error("there is a period");
    const { first, last, days, start } = shortenPeriod(period, 92);
    const told = [dayText(first), dayText(last), days, dayText(start)];
    expect(told).toEqual(["2026-08-22", "2026-11-21", 92, "2026-05-22"]);
  });

  it("is named as people write it", () => {
    const name = (first: string, last: string) =>
      daysName({ first: dayNumber(first), last: dayNumber(last) }, NOW);
    expect(name("2026-11-08", "2026-11-21")).toBe("8–21 Nov");
    expect(name("2026-10-25", "2026-11-07")).toBe("25 Oct – 7 Nov");
    expect(name("2026-11-08", "2026-11-08")).toBe("8 Nov");
    expect(name("2025-12-31", "2026-01-01")).toBe("31 Dec 2025 – 1 Jan");
    expect(name("2025-11-08", "2026-11-21")).toBe("8 Nov 2025 – 21 Nov");
  });

  it.each([
    [3, 6, "day"],
    [31, 62, "day"],
    [32, 10, "week"],
    [200, 58, "week"],
    [400, 30, "28 days"],
  ])("of %i days with as many before is cut into %i spans of a %s", (days, count, noun) => {
    const last = dayNumber("2026-11-21");
    const first = last - days + 1;
    const before = { first: first - days, last: first - 1 };
    const spans = spansOf({ first, last, days, before, start: before.first, known: 0, usualLast: last });
    expect(spans).toHaveLength(count);
    expect(spanNoun(spans)).toBe(noun);
    expect(spans.reduce((sum, span) => sum + span.days, 0)).toBe(2 * days);
    expect(spans.every((span) => (span.isBefore ? span.last < first : span.first >= first))).toBe(true);
  });
});
