import { describe, expect, it } from "vitest";
import { type Arrivals, readArrivals } from "../../../src/page/now/arrivals-verdict.ts";
import { judge, type NowVerdictFacts, usualOf } from "../../../src/page/now/verdict.ts";

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
const QUIET: NowVerdictFacts = {
  now: NOW,
  at: NOW,
  asOf: new Date("2026-11-22T11:58:00Z"),
  isStale: false,
  trouble: null,
  platformHour: null,
  hoursLookedAt: 3,
  broke: 0,
  rising: [],
  brokeAndFixed: 0,
  usualDays: Array.from({ length: 28 }, (_, day) => 10 + (day % 10)),
  newest: null,
  failing: 0,
  projects: 700,
  finished: 7176,
  finishedLately: 185,
  arrivals: ARRIVALS,
  kinds: [],
};
const BROKEN: NowVerdictFacts = {
  ...QUIET,
  broke: 18,
  failing: 237,
  newest: { slug: "pip", brokeAt: "2026-11-22 11:48:00+00" },
  kinds: [
    { kind: "dependency", failures: 13 },
    { kind: "vcs", failures: 13 },
  ],
};

const plain = (text: string) => text.replaceAll("\u00a0", " ");
const say = (facts: NowVerdictFacts) => {
  const { kind, sentence, evidence, title } = judge(facts);
  return { kind, title: plain(title), sentence: plain(sentence), evidence: plain(evidence) };
};

describe("the verdict", () => {
  it("knows nothing before the builds were read once, whatever else there is", () => {
    expect(say({ ...BROKEN, asOf: null, isStale: true })).toMatchObject({
      kind: "unknown",
      evidence: "So this page says neither that builds succeed nor that they fail.",
    });
  });

  it("speaks of then, not of now, where the data is old", () => {
    const stale = { ...BROKEN, asOf: new Date("2026-11-21T03:02:00Z"), isStale: true };
    expect(say({ ...stale, trouble: "failed: the service answered 503" })).toMatchObject({
      kind: "stale",
      title: "Not current: as of 21 Nov 03:02",
      sentence: "Not current: what follows is as of 21 Nov 03:02, 32 h ago.",
      evidence:
        "The last run failed: the service answered 503. What broke since is not here. Then, 237 of 700 projects were failing.",
    });
    expect(say({ ...stale, asOf: new Date(Number.NaN) }).sentence).toContain("a wrong clock hides when");
  });

  it("blames the platform before any project", () => {
    const from = Date.parse("2026-11-22T10:00:00Z");
    const hour = { from, projects: 24, failing: 19, expected: 4.2 };
    expect(say({ ...BROKEN, platformHour: hour })).toMatchObject({
      kind: "platform",
      sentence: "The platform is in trouble: 19 of 24 projects failed between 10:00 and 11:00.",
      evidence:
        "4 would be usual. The failures of such an hour tell little about a project. 18 projects broke in the last 24 hours.",
    });
  });

  it("names an error line that rises in many projects before what broke, and after the platform", () => {
    const line = {
      id: "1",
      line: "ImportError: No module named 'foo'",
      projects: 40,
      failures: 52,
      before: 0,
    };
    const rising = [{ ...line, since: Date.parse("2026-11-22T03:10:00Z"), firstBuild: "7" }];
    expect(say({ ...BROKEN, rising })).toMatchObject({
      kind: "rising",
      title: "↑ No module named 'foo' hit 40 projects",
      sentence: "“No module named 'foo'” began at 03:10 and hit 40 projects.",
    });
    const hour = { from: NOW.getTime(), projects: 20, failing: 15, expected: 2 };
    expect(say({ ...BROKEN, rising, platformHour: hour }).kind).toBe("platform");
  });

  it("says how many broke, and calls that ordinary up to what nine of ten days have", () => {
    expect(say(BROKEN)).toEqual({
      kind: "some",
      title: "18 broke in 24 h",
      sentence: "18 projects broke in the last 24 hours; the newest, {newest}, 12 min ago.",
      evidence:
        "An ordinary day: 11 to 18 on most of the last 28. Of the 26 failed builds, 50 % say: Missing dependency. No sign of trouble with the platform itself.",
    });
    expect(say({ ...BROKEN, broke: 19 })).toMatchObject({
      kind: "many",
      sentence:
        "19 projects broke in the last 24 hours, more than usual (11 to 18). The newest is {newest}, 12 min ago.",
    });
    expect(say({ ...BROKEN, broke: 3, brokeAndFixed: 1 })).toMatchObject({
      kind: "some",
      sentence:
        "3 projects broke in the last 24 hours; 1 of them is fixed; the newest, {newest}, 12 min ago.",
      evidence: expect.stringContaining("Fewer than usual: 11 to 18"),
    });
  });

  it("does not say what is usual after less than a week", () => {
    const young = { ...BROKEN, broke: 500, usualDays: [1, 2, 3, 4, 5, 6] };
    expect(say(young)).toMatchObject({
      kind: "some",
      evidence: expect.stringContaining("There are too few days yet to say what is usual."),
    });
    expect(usualOf([])).toBeNull();
  });

  it("never takes what it has not looked at for good", () => {
    expect(say({ ...BROKEN, hoursLookedAt: 0 }).evidence).toContain(
      "Too few builds in the last 3 hours to tell trouble of the platform.",
    );
    expect(say({ ...QUIET, finished: 0 })).toMatchObject({ kind: "nothing" });
    expect(judge({ ...QUIET, finished: 0 }).tone).toBe("idle");
  });

  it("keeps what fails for longer apart from nothing that fails", () => {
    expect(say({ ...BROKEN, broke: 0 })).toMatchObject({
      kind: "failing",
      sentence: "Nothing broke in the last 24 hours; 237 projects fail for longer.",
    });
    expect(say(QUIET)).toMatchObject({
      kind: "none",
      title: "✓ Nothing fails",
      evidence: "700 projects, 7,176 finished builds, as of 12:00 UTC.",
    });
  });

  it("is red for more than usual alone; a day like the others is amber, and nothing new is no alarm", () => {
    expect(judge({ ...BROKEN, broke: 19 })).toMatchObject({ kind: "many", tone: "bad" });
    expect(judge(BROKEN)).toMatchObject({ kind: "some", tone: "warn" });
    expect(judge({ ...BROKEN, broke: 0 })).toMatchObject({ kind: "failing", tone: "warn" });
  });
});

describe("a silence", () => {
  const at = Date.parse("2026-11-22T06:46:00Z");
  const silent: Arrivals = {
    ...ARRIVALS,
    ...{
      state: "quiet",
      lastBuildAt: at,
      gapMs: NOW.getTime() - 60_000 - at,
      usual: 40,
      fewest: 31,
      most: 52,
    },
  };

  it("outranks all that fails, and trouble of the platform", () => {
    const hour = { from: at - 3_600_000, projects: 24, failing: 19, expected: 4.2 };
    const facts = { ...BROKEN, broke: 500, platformHour: hour, arrivals: silent };
    expect(say(facts)).toEqual({
      kind: "quiet",
      title: "! No build since 06:46",
      sentence: "No build since 06:46. Usually 40 arrive by now.",
      evidence:
        "31 to 52 came between 06:46 and 11:59 on each of 28 days before; the longest gap was 1 h 50 min. " +
        "The mirror looked 1 min ago, and the service answered: it lists no newer build. So the builds stopped there, not here.",
    });
    expect(judge(facts).tone).toBe("bad");
    expect(say({ ...facts, isStale: true }).kind).toBe("stale");
  });

  it("of more than a day is compared with a day", () => {
    const long = { ...silent, lastBuildAt: at - 2 * 86_400_000, gapMs: 2.2 * 86_400_000, usual: 190 };
    expect(say({ ...BROKEN, arrivals: long })).toMatchObject({
      sentence: "No build since 20 Nov 06:46. Usually 190 arrive in a day.",
      evidence: expect.stringContaining("in the 24 hours from 06:46 on"),
    });
  });

  it("that is only longer than all is amber, below what is red and above what is usual", () => {
    const late = { ...silent, state: "late" };
    expect(say({ ...BROKEN, arrivals: late })).toMatchObject({
      kind: "few",
      sentence: "No build since 06:46, the longest gap of 28 days. Usually 40 arrive by now.",
    });
    expect(say({ ...BROKEN, broke: 19, arrivals: late }).kind).toBe("many");
    const few = { ...ARRIVALS, state: "few", lately: { builds: 120, usual: 192, fewest: 150 } };
    expect(say({ ...BROKEN, arrivals: few })).toMatchObject({
      kind: "few",
      sentence: "120 builds came in the last 24 hours, fewer than on any of 28 days.",
    });
  });

  it("is not known in the first two weeks, and with a wrong clock; both are said", () => {
    const young = { ...ARRIVALS, state: "unknown", reason: "too_few_days", daysKnown: 9 };
    for (const facts of [BROKEN, QUIET, { ...BROKEN, broke: 0 }, { ...BROKEN, broke: 19 }])
      expect(say({ ...facts, arrivals: young }).evidence).toContain(
        "cannot be known yet: 9 of 14 days are known.",
      );
    const still = { ...young, lately: { ...young.lately, builds: 0 } };
    expect(say({ ...QUIET, arrivals: still }).evidence).toContain(
      "No build came in the last 24 hours. Whether builds arrive as usual cannot be known yet",
    );
    const clock = { ...young, reason: "clock" };
    expect(say({ ...QUIET, arrivals: clock }).evidence).toContain("the mirror's clock disagree.");
  });

  it("is no word of a mirror that has not looked, and none for ever of a service that ended", () => {
    const row = {
      ...{ state: "quiet", reason: null, looked_at: "2026-11-22 11:54:00+00", last_build_id: "1" },
      ...{ last_build_at: "2026-11-22 06:46:00+00", gap_s: 18_000, usual_since: 40 },
    };
    expect(readArrivals(row, NOW).state).toBe("unknown");
    expect(readArrivals({ ...row, looked_at: "2026-11-22 11:55:00+00" }, NOW).state).toBe("quiet");
    expect(readArrivals(undefined, NOW).state).toBe("unknown");
    const ended = { ...ARRIVALS, state: "dormant", lastBuildAt: Date.parse("2024-03-02T10:00:00Z") };
    expect(say({ ...BROKEN, broke: 0, finishedLately: 0, arrivals: ended })).toMatchObject({
      kind: "failing",
      evidence:
        "The newest break is that of {newest}, 12 min ago. No build of these 24 hours has finished, so none of them can have failed. " +
        "No sign of trouble with the platform itself. No build came for 28 days: the last was of 2 Mar 2024 10:00.",
    });
  });
});
