/** Rounds by day and night over any list: `test/mirror/walk/rounds.test.ts`. */
import { describe, expect, it } from "vitest";
import { judgeEnd } from "../../../src/mirror/lists/differences.ts";
import { endNight } from "../../../src/mirror/lists/read-round.ts";
import { createCourse, type WalkOutcome } from "../../../src/mirror/walk/course.ts";

const night = (day: number, ids: string[]) => ({ startedAt: `2026-11-0${day}T00:00:00.000Z`, ids });
const earlier = [night(1, ["a", "b"]), night(2, ["e", "f"]), night(3, ["k", "l"])];
const outcome = (walk: WalkOutcome["walk"]): WalkOutcome => ({
  walk,
  reason: null,
  totalCount: 20,
  records: 20,
});
const start = { startedAt: "2026-11-05T00:00:00.000Z", beganRunId: 5 };
const reading = (covered: string, more: Partial<Parameters<typeof endNight>[1]> = {}) => ({
  outcome: outcome("head"),
  brokenBy: null,
  isAllRead: false,
  start,
  passes: 1,
  nights: [night(5, ["a", "b"])],
  covers: (id: string) => covered.includes(id),
  ...more,
});
const sinceOf = (covered: string) => endNight(earlier, reading(covered)).readSince;

describe("the night of a round", () => {
  it("says that all was read since the last night of the round before of which it has covered two dates", () => {
    expect(sinceOf("abcdef")).toBe(earlier[1]?.startedAt);
    // Of the date of `e` a record may be left that only the first night has read.
    expect(sinceOf("abcde")).toBe(earlier[0]?.startedAt);
  });

  it("covers no record of a page that waits for its anchor", () => {
    const course = createCourse({ resource: "build", listPath: "/b/", pageSize: 4, isListPath: () => true });
    for (const ids of ["abcd", "klmn"])
      course.read({
        ids: [...ids],
        meta: {
          limit: 4,
          offset: 0,
          next: "/b/?limit=4&offset=4",
          totalCount: 20,
          count: 4,
          showsOrder: true,
        },
      });
    expect(course.seen.has("k")).toBe(true);
    expect(endNight(earlier, reading("", { covers: course.covers })).readSince).toBe(earlier[0]?.startedAt);
  });

  it("leaves what is known as it was where the round did not read all", () => {
    const ended = endNight(earlier, reading("abcdef", { outcome: outcome("not_whole") }));
    expect(ended).toEqual({ isOver: true, readSince: null, nights: earlier });
  });
});

describe("the end of a walk that rested", () => {
  it("is not whole where its last page ends far before what it counts", () => {
    const end = (beyond: number) => judgeEnd("build", outcome("whole"), { verdict: "order shown", beyond });
    expect(end(20)).toMatchObject({ outcome: { walk: "whole" }, isAllRead: true });
    expect(end(21)).toMatchObject({ outcome: { walk: "not_whole" }, isAllRead: false });
  });
});
