import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { chooseDates, DAY_MS } from "../../../src/page/charts/calendar.ts";
import { durationChart } from "../../../src/page/charts/duration-chart.ts";
import { successRateChart } from "../../../src/page/charts/success-rate-chart.ts";
import { volumeChart } from "../../../src/page/charts/volume-chart.ts";
import { type DayRow, dayRow, dayRows, NO_BUILDS, NOT_COVERED } from "./day-rows.ts";

const INCIDENT = { hour: "2026-11-19 14:00:00+00", projects: 20, projects_failing: 15 };

/** Everything that a chart can show at once. */
const MIXED = dayRows(30, (index) => {
  if (index === 10) return NO_BUILDS;
  if (index === 29) return NOT_COVERED;
  if (index >= 27) return { is_complete: false, unfinished: 3 };
  return index === 5 ? { p50_s_max: null, p95_s_max: null } : {};
});

const CHARTS = [
  { name: "success rate", draw: (days: readonly DayRow[]) => successRateChart(days, [INCIDENT]) },
  { name: "volume", draw: (days: readonly DayRow[]) => volumeChart(days) },
  { name: "duration", draw: (days: readonly DayRow[]) => durationChart(days) },
];

/** The wide picture of a figure. */
const wide = (figure: string) =>
  /<svg class="chart-wide".*?<\/svg>(?=<svg class="chart-narrow)/.exec(figure)?.[0] ?? "";
/** The texts that a mouse shows, day by day. */
const titlesIn = (figure: string) =>
  [...wide(figure).matchAll(/<title>([^<]*)<\/title>/g)].map(([, words]) => words);
/** The marks that have all of these, by themselves or from the groups around them. */
function tags(figure: string, ...parts: string[]): string[] {
  const groups: string[] = [];
  const marks: string[] = [];
  for (const [tag] of wide(figure).matchAll(/<\/?(?:g|path)\b[^>]*>/g)) {
    if (tag.startsWith("<g")) groups.push(tag);
    else if (tag === "</g>") groups.pop();
    else if (tag.startsWith("<path")) marks.push(tag + groups.join(""));
  }
  return marks.filter((mark) => parts.every((part) => mark.includes(part)));
}

describe.each(CHARTS)("the $name chart", ({ draw }) => {
  it("holds nothing that a strict policy would refuse, or that leaves the page", async () => {
    const figure = await draw(MIXED);
    expect(figure).not.toMatch(
      /<style|<script|<foreignObject|<image|<use|<a\b|\sstyle=|\son\w+=|href|data:|https?:/i,
    );
    const ids = [...figure.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    const named = [...figure.matchAll(/url\(([^)]*)\)/g)].map(([, target]) => target?.slice(1));
    expect(named.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it("takes every colour from the style sheet", async () => {
    const css = readFileSync(new URL("../../../src/page/charts.css", import.meta.url), "utf8");
    const paints = [...(await draw(MIXED)).matchAll(/ (?:fill|stroke)="([^"]*)"/g)].map(
      ([, paint]) => paint ?? "",
    );
    expect(
      new Set(
        paints.filter((paint) => !/^(?:none|transparent|url\(#[\w-]+\)|var\(--chart-\w+\))$/.test(paint)),
      ),
    ).toEqual(new Set());
    const variables = new Set(paints.flatMap((paint) => paint.match(/--chart-\w+/g) ?? []));
    expect([...variables].filter((name) => !css.includes(`${name}:`))).toEqual([]);
  });

  it("is an image with a title and a description, each id but once", async () => {
    const figure = await draw(MIXED);
    const pictures = figure.match(/<svg [^>]*role="img"[^>]*>/g) ?? [];
    expect(pictures).toHaveLength(2);
    const ids = [...figure.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const named = pictures.flatMap((tag) => /aria-labelledby="([^"]*)"/.exec(tag)?.[1]?.split(" ") ?? []);
    expect(named.filter((id) => !ids.includes(id))).toEqual([]);
    expect(figure).not.toMatch(/tabindex|graphics-|aria-roledescription/);
  });

  it("prints nothing", async () => {
    const spies = (["log", "warn", "error", "info", "debug"] as const).map((name) => vi.spyOn(console, name));
    for (const days of [MIXED, dayRows(1), dayRows(400)]) await draw(days);
    expect(spies.flatMap(({ mock }) => mock.calls)).toEqual([]);
    vi.restoreAllMocks();
  });

  it("takes nothing from a row but its day and its numbers", async () => {
    const hostile = "<script>alert(1)</script>\u202e\u001b[2J";
    const rows = MIXED.map((row) => ({ ...row, project_slug: hostile, [hostile]: hostile }));
    expect(await draw(rows)).toBe(await draw(MIXED));
  });

  it("says so in words when there is nothing to draw", async () => {
    for (const days of [[], dayRows(3, () => NO_BUILDS), dayRows(3, () => NOT_COVERED)]) {
      expect(await draw(days)).toMatch(/^<p class="empty">No build[^<]* in this time\.<\/p>$/);
    }
  });

  it("tells of each day, and of the newest 400 where there are more", async () => {
    expect(titlesIn(await draw(MIXED)).filter((words) => /^\d/.test(words ?? ""))).toHaveLength(30);
    const figure = await draw(dayRows(1234));
    expect(titlesIn(figure).filter((words) => /^\d/.test(words ?? ""))).toHaveLength(400);
    expect(figure).toContain("The newest 400 of 1,234 days are drawn");
  });

  it("leaves out what lies ahead of the calendar, and says so", async () => {
    const ahead = { ...dayRow("2031-01-01"), is_complete: false, is_covered: false };
    const figure = await draw([...MIXED, ahead]);
    expect(titlesIn(figure)).toEqual(titlesIn(await draw(MIXED)));
    expect(figure).toContain("Builds with a date in the future are only in the table");
  });

  it("marks the days that no sync has looked at", async () => {
    const figure = await draw(MIXED);
    expect(tags(figure, "-blind)")).toHaveLength(1);
    expect(titlesIn(figure)).toContain("2026-11-21: not read yet");
    expect(figure).toContain("not read yet</li>");
    expect(await draw(dayRows(3))).not.toContain("not read");
  });
});

describe("successRateChart", () => {
  it("tells the rate, its interval and the builds of a day as the row has them", async () => {
    const figure = await successRateChart(dayRows(2, (index) => (index ? { succeeded: 2, failed: 1 } : {})));
    expect(titlesIn(figure)).toEqual([
      "2026-11-20: 90.0\u00a0% (72.0–95.0\u00a0%) of 10 finished builds",
      "2026-11-21: 66.7\u00a0% (53.3–83.3\u00a0%) of 3 finished builds",
    ]);
    expect(figure).toContain(
      "11 of 13 finished builds succeeded, 84.6\u00a0%. The lowest rate is on 2026-11-21, 66.7\u00a0%.",
    );
  });

  it("gives every rate its place between 0 and 100 %", async () => {
    const shares = [0, 1, 0.5, 0.25];
    const figure = await successRateChart(
      dayRows(4, (index) => ({
        succeeded: 20 * (shares[index] ?? 0),
        failed: 20 - 20 * (shares[index] ?? 0),
      })),
    );
    const heights = tags(figure, 'fill="var(--chart-ok)"', "translate(")
      .filter((tag) => !tag.includes("fill-opacity"))
      .map((tag) => Number(/^<path[^>]*translate\([\d.]+,([\d.]+)\)/.exec(tag)?.[1]));
    const [foot = 0, top = 0] = heights;
    expect(foot - top).toBeGreaterThan(100);
    expect(heights.map((height) => (foot - height) / (foot - top))).toEqual(
      shares.map((share) => expect.closeTo(share, 2)),
    );
  });

  it("breaks its line where nothing finished, and shows a day between two gaps as a point", async () => {
    const gaps = [3, 5];
    const figure = await successRateChart(dayRows(130, (index) => (gaps.includes(index) ? NO_BUILDS : {})));
    const [line] = tags(figure, 'stroke-width="2"').filter((tag) => !tag.includes("dasharray"));
    expect(line?.match(/M/g)).toHaveLength(3);
    expect(
      tags(figure, 'fill="var(--chart-ok)"').filter((tag) => !tag.includes("fill-opacity")),
    ).toHaveLength(1);
  });

  it("draws what may still change hollow and dashed, up to the last day that may not", async () => {
    const figure = await successRateChart(dayRows(10, (index) => ({ is_complete: index < 8 })));
    expect(tags(figure, 'fill="var(--chart-paper)"')).toHaveLength(2);
    const dashed = tags(figure, 'stroke-width="2"', "dasharray");
    expect(dashed).toHaveLength(1);
    expect(/ d="([^"]*)"/.exec(dashed[0] ?? "")?.[1]?.match(/[ML]/g)).toEqual(["M", "L", "L"]);
    expect(titlesIn(figure).filter((words) => words?.endsWith("; may still change"))).toHaveLength(2);
  });

  it("marks the incident hours of its days, and no others", async () => {
    const earlier = { ...INCIDENT, hour: "2026-11-01 14:00:00+00" };
    const figure = await successRateChart(dayRows(5), [INCIDENT, earlier]);
    expect(titlesIn(figure)).toContain("Incident hour 2026-11-19 14:00 UTC: 15 of 20 projects failed");
    expect(titlesIn(figure).filter((words) => words?.startsWith("Incident"))).toHaveLength(1);
    expect(await successRateChart(dayRows(5), [earlier])).not.toContain("incident hour");
  });
});

describe("volumeChart", () => {
  it("gives every build the same height", async () => {
    const days = dayRows(2, (index) =>
      index ? { succeeded: 40, failed: 8, unfinished: 2 } : { succeeded: 20, failed: 4 },
    );
    const figure = await volumeChart(days);
    const heights = ['-failed)"', 'fill="var(--chart-ok)"', '-unfinished)"'].map((fill) =>
      tags(figure, fill, "stroke=").map((tag) => Math.abs(Number(/v(-?[\d.]+)/.exec(tag)?.[1]))),
    );
    const perBuild = [[4, 8], [20, 40], [2]].map((counts, part) =>
      counts.map((builds, index) => (heights[part]?.[index] ?? 0) / builds),
    );
    const [first = 0] = perBuild.flat();
    expect(first).toBeGreaterThan(1);
    for (const height of perBuild.flat()) expect(height).toBeCloseTo(first, 0);
    expect(titlesIn(figure)[1]).toBe("2026-11-21: 50 builds, 40 succeeded, 8 failed, 2 not finished");
  });

  it("is pale where a day may still change", async () => {
    const figure = await volumeChart(dayRows(3, (index) => ({ is_complete: index < 2 })));
    expect(tags(figure, 'fill-opacity="0.35"')).toHaveLength(2);
    expect(figure).toContain("pale: may still change");
  });
});

describe("durationChart", () => {
  it("tells both percentiles with their bounds", async () => {
    const figure = await durationChart(dayRows(1));
    expect(titlesIn(figure)).toEqual([
      "2026-11-21: 10 finished builds, median 1m 0s to 2m 0s, 95th percentile 10m 0s to 20m 0s",
    ]);
    expect(figure).toContain(">1 min</text>");
  });

  it("points upwards from the lower bound where nothing bounds a percentile above", async () => {
    const figure = await durationChart(
      dayRows(2, (index) => (index ? { p50_s_max: null, p95_s_max: null } : {})),
    );
    expect(titlesIn(figure)[1]).toContain("median 1m 0s or longer, 95th percentile 10m 0s or longer");
    expect(figure).toContain("no upper bound is known");
    expect(await durationChart(dayRows(2))).not.toContain("no upper bound is known");
  });

  it("leaves out the days whose bounds say nothing, and says so", async () => {
    const seldom = { p50_s_min: 0, p50_s_max: 80_000, p95_s_min: 0, p95_s_max: 90_000 };
    const figure = await durationChart(dayRows(5, (index) => (index < 2 ? seldom : {})));
    expect(figure).toContain("2 of 5 days are left out: the mirror polled too rarely.");
    expect(tags(figure, "-slow)")).toHaveLength(3);
    expect(titlesIn(figure)[0]).toContain("median up to 22h 13m");
    expect(await durationChart(dayRows(5, () => seldom))).toMatch(
      /^<p class="empty">The mirror polled too rarely/,
    );
  });

  it("draws a bound of 0 s at the foot of its axis", async () => {
    const figure = await durationChart(dayRows(2, () => ({ p50_s_min: 0 })));
    expect(figure).not.toMatch(/NaN|Infinity/);
    expect(figure).toContain(">1 s</text>");
    expect(titlesIn(figure)[0]).toContain("median up to 2m 0s");
  });
});

describe("chooseDates", () => {
  const from = Date.parse("2026-08-24T00:00:00Z");
  it.each([
    [1, ["2026-08-24"]],
    [3, ["2026-08-24", "2026-08-25", "2026-08-26"]],
    [28, ["2026-08-24", "2026-08-31", "2026-09-07", "2026-09-14"]],
    [90, ["2026-08-24", "2026-09-21", "2026-10-19", "2026-11-16"]],
    [400, ["2026-09-01", "2027-01-01", "2027-05-01", "2027-09-01"]],
  ])("labels %i days at four places at most", (days, dates) => {
    const { values } = chooseDates(from, from + days * DAY_MS, 4);
    expect(values.map((value) => new Date(value).toISOString().slice(0, 10))).toEqual(dates);
  });
});

describe("charts.css", () => {
  const css = readFileSync(new URL("../../../src/page/charts.css", import.meta.url), "utf8");
  const [light = "", dark = ""] = css.split("prefers-color-scheme: dark");
  const luminance = (colour: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one: string, other: string) => {
    const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };

  it.each([
    ["by day", light],
    ["by night", dark],
  ])("has letters of 4.5:1 and marks of 3:1 %s", (_, section) => {
    const colours = new Map(
      [...section.matchAll(/(--chart-\w+): (#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value]),
    );
    const paper = colours.get("--chart-paper") ?? "";
    const against = (name: string) => contrast(colours.get(`--chart-${name}`) ?? paper, paper);
    expect(against("text")).toBeGreaterThanOrEqual(4.5);
    for (const mark of ["ok", "failed", "open", "slow", "axis", "blind"])
      expect(against(mark), mark).toBeGreaterThanOrEqual(3);
  });
});
