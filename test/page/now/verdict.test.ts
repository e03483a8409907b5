import { describe, expect, it } from "vitest";
import { type Arrivals, readArrivals, usualOf } from "../../../src/page/now/usual.ts";
import { judge, type NowVerdictFacts } from "../../../src/page/now/verdict.ts";
import { toneOf } from "../../../src/page/parts/document.ts";
import { textOf } from "../../support/page-text.ts";

const NOW = new Date("2026-11-22T12:00:00Z");
const ARRIVALS: Arrivals = {
  state: "usual",
  reason: null,
  lookedAt: NOW.getTime() - 60_000,
  lastBuildId: "97241",
  lastBuildAt: Date.parse("2026-11-22T11:50:00Z"),
  gapMs: 540_000,
  longestGapMs: 6_600_000,
  daysKnown: 28,
  usual: 2,
  fewest: 0,
  most: 4,
  lately: { builds: 190, usual: 192, fewest: 150 },
};
type Case = Omit<NowVerdictFacts, "hadWorked"> & { hadWorked?: number };
const QUIET: Case = {
  now: NOW,
  at: NOW,
  isNow: true,
  day: undefined,
  span: "in the last 24 hours",
  ago: "ago",
  asOf: new Date("2026-11-22T11:58:00Z"),
  isStale: false,
  trouble: null,
  incident: undefined,
  hoursLookedAt: 3,
  broke: 0,
  rising: [],
  brokeAndFixed: 0,
  usualDays: Array.from({ length: 28 }, (_, day) => 10 + (day % 10)),
  newest: undefined,
  failing: 0,
  before: {
    built: 690,
    failing: 230,
    moments: 10,
    failing_known: 233,
    built_now: 700,
    failing_now: 237,
    failing_day_ago: 230,
  },
  lately: { succeeded: 160, finished: 185 },
  usuallyDays: 90,
  usually: { succeeded: 14000, finished: 16200 },
  projects: 700,
  finished: 7176,
  finishedLately: 185,
  arrivals: ARRIVALS,
  kinds: [],
};
const BROKEN: Case = {
  ...QUIET,
  broke: 18,
  failing: 237,
  newest: { project_slug: "pip", newest_failing_since: "2026-11-22 11:48:00+00" },
  kinds: [
    { error_class: "dependency", failures: 13, usual_share: 0.4 },
    { error_class: "vcs", failures: 13, usual_share: 0.2 },
  ],
};

const hour = "2026-11-22 10:00:00+00";
const until = "2026-11-22 11:00:00+00";
const incident = {
  since: "2026-11-22 08:00:00+00",
  hour,
  until,
  projects: 24,
  projects_failing: 19,
  projects_expected: 4.2,
};
const stale = { ...BROKEN, asOf: new Date("2026-11-21T03:02:00Z"), isStale: true };
const LINE = { error_line_id: "1", error_line: "ImportError: No module named 'foo'" };
const TODAY = {
  projects: 40,
  failures: 52,
  finished: 400,
  finished_before: 9000,
  since: "2026-11-22 03:10:00+00",
  first_build_id: "7",
};
const rising = [{ ...LINE, ...TODAY, failures_before: 0 }];
const SILENT_AT = Date.parse("2026-11-22T06:46:00Z");
const silent: Arrivals = {
  ...ARRIVALS,
  state: "quiet",
  lastBuildAt: SILENT_AT,
  gapMs: NOW.getTime() - 60_000 - SILENT_AT,
  usual: 40,
  fewest: 31,
  most: 52,
};
const long = { ...silent, lastBuildAt: SILENT_AT - 2 * 86_400_000, gapMs: 2.2 * 86_400_000, usual: 190 };
const late = { ...silent, state: "late" };
const few = { ...ARRIVALS, state: "few", lately: { builds: 120, usual: 192, fewest: 150 } };
const young = { ...ARRIVALS, state: "unknown", reason: "too_few_days", daysKnown: 9 };
const ended = {
  ...ARRIVALS,
  state: "dormant",
  lastBuildAt: Date.parse("2024-03-02T10:00:00Z"),
  lately: { builds: 0, usual: 0, fewest: 0 },
};

const before = {
  isNow: false,
  span: "in the 24 hours before 22 Nov 02:10",
  at: new Date("2026-11-22T02:10:00Z"),
};

const ALL_FAIL = {
  built: 690,
  failing: 92,
  moments: 10,
  failing_known: 690,
  built_now: 700,
  failing_now: 700,
  failing_day_ago: 700,
};

/** The golden file has the kind, the look and the tone of each, and what it says. */
const CASES: Readonly<Record<string, Case>> = {
  "never read, whatever else there is": { ...BROKEN, asOf: null, isStale: true },
  old: { ...stale, trouble: "failed: the service answered 503" },
  "old, without a run that failed": { ...stale, failing: 0 },
  "old, with a wrong clock": { ...stale, asOf: new Date(Number.NaN) },
  "trouble of the platform, whatever broke": { ...BROKEN, broke: 500, incident },
  "a line that rises": { ...BROKEN, rising },
  "a line that rises, and the platform": { ...BROKEN, rising, incident },
  "as many as on nine of ten days": BROKEN,
  "one more": { ...BROKEN, broke: 19 },
  "one more, some of them fixed": { ...BROKEN, broke: 19, brokeAndFixed: 2 },
  "one more, two thirds of them new": { ...BROKEN, broke: 19, hadWorked: 6 },
  "few, all of them new": { ...BROKEN, broke: 3, hadWorked: 0 },
  "one that is new": { ...BROKEN, broke: 1, hadWorked: 0 },
  "few, one of them fixed": { ...BROKEN, broke: 3, brokeAndFixed: 1 },
  "all of them fixed": { ...BROKEN, broke: 3, brokeAndFixed: 3 },
  "many in less than a week": { ...BROKEN, broke: 500, usualDays: [1, 2, 3, 4, 5, 6] },
  "hours that nobody looked at": { ...BROKEN, hoursLookedAt: 0 },
  "no finished build": { ...QUIET, finished: 0 },
  "nothing new": { ...BROKEN, broke: 0 },
  "nothing new, and a lower rate": { ...BROKEN, broke: 0, lately: { succeeded: 110, finished: 185 } },
  "as many as usual, and a lower rate": { ...BROKEN, lately: { succeeded: 110, finished: 185 } },
  "more fail than in ninety days": { ...BROKEN, failing: 700, before: ALL_FAIL },
  "more failed than in ninety days, by an old look": {
    ...BROKEN,
    failing: 700,
    before: ALL_FAIL,
    ...before,
  },
  "more fail, of what was not known before": {
    ...BROKEN,
    failing: 700,
    before: { ...ALL_FAIL, failing_known: 92 },
  },
  "more fail than in ninety days, and none broke": { ...BROKEN, broke: 0, failing: 700, before: ALL_FAIL },
  "more fail than in a month that is not known": {
    ...BROKEN,
    failing: 700,
    before: { ...ALL_FAIL, moments: 2 },
  },
  "an error that no rule names": {
    ...BROKEN,
    kinds: [{ error_class: "unclassified", failures: 40, usual_share: null }],
  },
  "nothing fails": QUIET,
  "more broke, by an old look": { ...BROKEN, broke: 19, ...before },
  "nothing fails, by an old look": { ...QUIET, ...before },
  "a silence, whatever else": { ...BROKEN, broke: 500, incident, arrivals: silent },
  "a silence, and old": { ...stale, arrivals: silent },
  "a silence, by an old look": { ...BROKEN, ...before, arrivals: silent },
  "a silence of days": { ...BROKEN, arrivals: long },
  "the longest gap": { ...BROKEN, arrivals: late },
  "the longest gap, and more broke": { ...BROKEN, broke: 19, arrivals: late },
  "the fewest in a day": { ...BROKEN, arrivals: few },
  "few days known": { ...BROKEN, arrivals: young },
  "few days known, more broke": { ...BROKEN, broke: 19, arrivals: young },
  "few days known, nothing new": { ...BROKEN, broke: 0, arrivals: young },
  "few days known, nothing fails": { ...QUIET, arrivals: young },
  "few days known, none came": { ...QUIET, arrivals: { ...young, lately: { ...young.lately, builds: 0 } } },
  "clocks that disagree": { ...QUIET, arrivals: { ...young, reason: "clock" } },
  "a service that ended": { ...BROKEN, broke: 0, finishedLately: 0, arrivals: ended },
};

describe("the verdict", () => {
  it("has the words of its golden file", async () => {
    const told = Object.entries(CASES).map(([name, facts]) => {
      const { kind, look, title, sentence, evidence } = judge({ hadWorked: facts.broke, ...facts });
      const words = [`# ${name}: ${kind}, ${look}, ${toneOf({ look })}`, title];
      return [...words, textOf(String(sentence)), textOf(String(evidence))]
        .join("\n")
        .replaceAll("\u00a0", " ");
    });
    await expect(`${told.join("\n\n")}\n`).toMatchFileSnapshot("verdict.golden.txt");
  });

  it("has at most two sentences of evidence", () => {
    for (const [name, facts] of Object.entries(CASES)) {
      const evidence = textOf(String(judge({ hadWorked: facts.broke, ...facts }).evidence));
      expect([name, evidence.split(/(?<=[.?!]) /)]).toEqual([
        name,
        expect.toSatisfy((said) => said.length <= 2),
      ]);
    }
  });

  it("calls usual what eight of ten days had, and nothing before a week is known", () => {
    expect(usualOf(QUIET.usualDays)).toEqual({ low: 11, high: 18 });
    expect([usualOf([]), usualOf([1, 2, 3, 4, 5, 6])]).toEqual([null, null]);
    expect(usualOf([1, 2, 3, 4, 5, 6, 7])).toEqual({ low: 2, high: 6 });
  });

  it("keeps what the last look found of arrivals, however old it is", () => {
    const row = { state: "quiet", reason: null, looked_at: "2026-11-20 11:54:00+00", last_build_id: "1" };
    expect([readArrivals(row).state, readArrivals(undefined).state]).toEqual(["quiet", "unknown"]);
  });
});
