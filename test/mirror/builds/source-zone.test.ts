import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { createZoneOffset } from "../../../src/base/clock.ts";
import {
  findFutureDates,
  findOffsetSpans,
  judgeZone,
  listZones,
  type OffsetSpan,
} from "../../../src/mirror/builds/source-zone.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { rolledBack } from "../../support/database.ts";
import { type QuickWorld, startWatchedWorld } from "../../support/quick-world.ts";

const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;

interface ObservedRecord {
  createdAt: number;
  delayMs: number;
  /** The time between the two looks; the delay is no longer. */
  gapMs: number;
}

/** What the evidence tells of a build that a service in `zone` dated. */
function spanOf(zone: string, { createdAt, delayMs, gapMs }: ObservedRecord): OffsetSpan {
  const offsetMs = createZoneOffset(zone)(new Date(createdAt)) * 60_000;
  const [least, most] = [offsetMs - delayMs - 60_000, offsetMs - delayMs + gapMs + 60_000];
  return {
    day: new Date(createdAt + delayMs).toISOString().slice(0, 10),
    from: Math.ceil(least / QUARTER_MS) * 15,
    to: Math.floor(most / QUARTER_MS) * 15,
    builds: 1,
  };
}

function watched(zone: string, from: string, days: number, hour = 12): OffsetSpan[] {
  const start = Date.parse(`${from}T00:00:00Z`) + hour * 3_600_000;
  return Array.from({ length: days }, (_, day) =>
    spanOf(zone, { createdAt: start + day * DAY_MS, delayMs: 20_000, gapMs: 60_000 }),
  );
}

describe("judgeZone", () => {
  test("says nothing without evidence", () => {
    expect(judgeZone([], "Etc/UTC")).toBeNull();
  });

  test("never finds a better zone than the true one, whatever the delays", { tags: ["long"] }, () => {
    const sighting = fc
      .record({
        second: fc.integer({ min: 0, max: 120 * 86_400 }),
        gapMs: fc.integer({ min: 1, max: 900_000 }),
        share: fc.float({ min: 0, max: 1, noNaN: true }),
      })
      .map(({ second, gapMs, share }) => ({
        createdAt: Date.parse("2025-01-15T00:00:00Z") + second * 1000,
        gapMs,
        delayMs: gapMs * share,
      }));
    const sightings = fc.array(sighting, { minLength: 1, maxLength: 40 });
    const property = fc.property(fc.constantFrom(...listZones()), sightings, (zone, seen) => {
      const spans = seen.map((one) => spanOf(zone, one));
      const { best, configured, days, against } = judgeZone(spans, zone) ?? {};
      expect([best?.zone, configured?.days, against]).toEqual([zone, days?.length, 0]);
    });
    fc.assert(property, { numRuns: 30 });
  });

  test("finds a zone that fits everywhere, whatever is configured", { tags: ["long"] }, () => {
    fc.assert(
      fc.property(fc.constantFrom(...listZones()), fc.constantFrom(...listZones()), (zone, configured) => {
        const spans = watched(zone, "2025-02-20", 40);
        const judgement = judgeZone(spans, configured);
        const found = judgement?.best?.zone ?? "none";
        const [offsetAt, truth] = [createZoneOffset(found), createZoneOffset(zone)];
        // Of the zones that fit as well, none differs at noon of any day.
        for (const { day } of spans)
          expect(offsetAt(new Date(`${day}T12:00:00Z`))).toBe(truth(new Date(`${day}T12:00:00Z`)));
      }),
      { numRuns: 20 },
    );
  });

  test("tells a zone with summer time from one without as soon as the clocks have changed", {
    tags: ["long"],
  }, () => {
    const spans = watched("America/Chicago", "2025-02-20", 20);
    expect(judgeZone(spans, "America/Regina")).toMatchObject({
      best: { zone: "America/Chicago", days: 20 },
      // Summer time began on 9 March.
      configured: { days: 17, recentDays: 4 },
      offsets: { configured: -360, best: -300 },
    });
    expect(judgeZone(spans.slice(0, 10), "America/Regina")?.best?.zone).toBe("America/Regina");
  });

  test("takes the zone of the newest days for the service's, and tells how many others it does not fit", {
    tags: ["long"],
  }, () => {
    const moved = [...watched("America/Chicago", "2025-06-01", 30), ...watched("Etc/UTC", "2025-07-01", 7)];
    expect(judgeZone(moved, "Etc/UTC")).toMatchObject({ best: { zone: "Etc/UTC", days: 7 }, against: 0 });
    expect(judgeZone(moved, "America/Chicago")).toMatchObject({ best: { zone: "Etc/UTC" }, against: 7 });
  });

  test("is not misled by single builds that are dated ahead or were listed late", () => {
    const day = { day: "2025-06-03", builds: 1 };
    const odd = [840, -360].map((offset) => ({ ...day, from: offset, to: offset }));
    const usual = watched("America/Chicago", "2025-06-01", 5);
    const spans = [...usual, ...watched("America/Chicago", "2025-06-03", 1, 20), ...odd];
    const judged = { configured: { days: 5 }, against: 0, builds: 8 };
    expect(judgeZone(spans, "America/Chicago")).toMatchObject(judged);
  });

  test("knows when no zone fits", () => {
    const spans = [{ day: "2025-06-03", from: -255, to: -255, builds: 4 }];
    expect(judgeZone(spans, "Etc/UTC")).toMatchObject({ best: null, configured: { days: 0 }, against: 0 });
  });
});

const SINCE = "2024-01-01T00:00:00Z";
const rates = QUIET;

describe("findOffsetSpans", () => {
  test.for(["Asia/Kathmandu", "America/Chicago"])("tells that a service runs in %s", {
    tags: ["long"],
  }, async (timeZone) => {
    await using quick = await startWatchedWorld({ timeZone, rates, readAs: "Asia/Tokyo" });
    const spans = await findOffsetSpans(quick.sql, SINCE);
    expect(spans.reduce((sum, { builds }) => sum + builds, 0)).toBe(12);
    const judged = { against: 12, builds: 12, configured: { days: 0 } };
    expect(judgeZone(spans, "Asia/Tokyo")).toMatchObject(judged);
    expect(judgeZone(spans, timeZone)?.best?.zone).toBe(timeZone);
  });

  test("takes no builds for fresh that come between looks far apart", { tags: ["long"] }, async () => {
    await using quick = await startWatchedWorld({ rates, minutesApart: 16 });
    expect(await findOffsetSpans(quick.sql, SINCE)).toEqual([]);
  });

  /** A world in UTC, whose runs 2 to 5 have each found 3 builds. */
  let quick: QuickWorld;
  beforeAll(async () => {
    quick = await startWatchedWorld({ rates });
    return () => quick[Symbol.asyncDispose]();
  });
  const spansAfter = async (statement: string) => {
    let spans: OffsetSpan[] = [];
    await rolledBack(quick.sql, async (sql) => {
      await sql.unsafe(statement);
      spans = await findOffsetSpans(sql, SINCE);
    });
    return spans;
  };
  const clocks = (least: number, most: number) =>
    `update sync.runs set clock_ahead_min_ms = ${least}, clock_ahead_max_ms = ${most}`;

  test("looks no farther back than it is told", async () => {
    expect(await findOffsetSpans(quick.sql, quick.world.now().toISOString())).toEqual([]);
    expect(judgeZone(await findOffsetSpans(quick.sql, SINCE), "Etc/UTC")?.best?.zone).toBe("Etc/UTC");
  });

  test.each([
    [
      "a look that did not join what is known",
      "update sync.walks set walk = 'not_whole' where resource = 'build' and run_id = 3",
      9,
    ],
    [
      "builds whose dates no zone explains",
      "update mirror.builds set date = date + interval '3 days' where id = (select max(id) from mirror.builds)",
      11,
    ],
    ["runs when the service's clock was a day ahead", clocks(86_400_000, 86_401_000), 0],
    // What the ledger keeps of a clock that is 25 days or more behind, or ahead.
    ["runs when it was behind by more than can be told", clocks(-(2 ** 31), -(2 ** 31)), 0],
    ["runs when it was ahead by more than can be told", clocks(2 ** 31 - 1, 2 ** 31 - 1), 0],
  ])("leaves out %s", async (_, statement, builds) => {
    expect((await spansAfter(statement)).reduce((sum, span) => sum + span.builds, 0)).toBe(builds);
  });

  test("allows for a clock of the service that is off", async () => {
    // Dated by a clock that is 8 minutes ahead: an offset of 8 minutes, as far as the dates tell.
    const late = "update mirror.builds set date = date + interval '8 minutes'";
    expect(judgeZone(await spansAfter(`${late}; ${clocks(0, 0)}`), "Etc/UTC")?.best).toBeNull();
    const allowed = await spansAfter(`${late}; ${clocks(479_000, 481_000)}`);
    expect(judgeZone(allowed, "Etc/UTC")?.best?.zone).toBe("Etc/UTC");
  });
});

describe("findFutureDates", () => {
  test("finds the dates, as they are read, that lie ahead of their sight", { tags: ["long"] }, async () => {
    await using quick = await startWatchedWorld({ rates, timeZone: "Asia/Tokyo", minutesApart: 60 });
    const { sql } = quick;
    const wrong = await findFutureDates(sql, "Etc/UTC", SINCE);
    expect(wrong.future).toBeGreaterThanOrEqual(12);
    expect(wrong.builds).toBeGreaterThanOrEqual(wrong.future);
    expect(wrong.medianMinutes).toBeGreaterThan(300);
    expect(wrong.medianMinutes).toBeLessThanOrEqual(540);
    expect(await findFutureDates(sql, "Asia/Tokyo", SINCE)).toMatchObject({
      future: 0,
      medianMinutes: null,
    });
  });
});
