import { describe, expect, it } from "vitest";
import { judge, type NowVerdictFacts, usualOf } from "../../../src/page/now/verdict.ts";

const NOW = new Date("2026-11-22T12:00:00Z");
const QUIET: NowVerdictFacts = {
  now: NOW,
  at: NOW,
  asOf: new Date("2026-11-22T11:58:00Z"),
  isStale: false,
  trouble: null,
  platformHour: null,
  hoursLookedAt: 3,
  broke: 0,
  brokeAndFixed: 0,
  usualDays: Array.from({ length: 28 }, (_, day) => 10 + (day % 10)),
  newest: null,
  failing: 0,
  projects: 700,
  finished: 7176,
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

  it("says how many broke, and calls that ordinary up to what nine of ten days have", () => {
    expect(say(BROKEN)).toEqual({
      kind: "some",
      title: "✗ 18 broke in 24 h",
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
      evidence: expect.stringContaining("A quiet day: 11 to 18"),
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
});
