import { describe, expect, test } from "vitest";
import { judgeZone } from "../../../src/mirror/builds/source-zone.ts";
import { findFutureDates, findOffsetSpans } from "../../../src/mirror/builds/zone-evidence.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { withSql } from "../../../src/store/connection/connect.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import type { QuickWorld } from "../../support/quick-world.ts";
import { startWatchedWorld } from "../../support/watched-world.ts";

const SINCE = "2024-01-01T00:00:00Z";
const rates = QUIET;

const read = <T>(quick: QuickWorld, fn: (sql: Sql) => Promise<T>) =>
  withSql(quick.databaseUrl, { applicationName: "docmirror test", max: 1 }, fn);

describe("findOffsetSpans", () => {
  const tellZone = async (timeZone: string) => {
    await using quick = await startWatchedWorld({ timeZone, rates, readAs: "Asia/Tokyo" });
    const spans = await read(quick, (sql) => findOffsetSpans(sql, SINCE));
    expect(spans.reduce((sum, { builds }) => sum + builds, 0)).toBe(12);
    expect(judgeZone(spans, "Asia/Tokyo")).toMatchObject({
      against: 12,
      builds: 12,
      configured: { days: 0 },
    });
    expect(judgeZone(spans, timeZone)?.best?.zone).toBe(timeZone);
  };
  test("tells that a service runs in Asia/Kathmandu", () => tellZone("Asia/Kathmandu"));
  test.for(["America/Chicago", "Etc/UTC"])("tells that a service runs in %s", { tags: ["long"] }, tellZone);

  test("takes no builds for fresh between looks that lie far apart, nor those of the first walk", {
    tags: ["long"],
  }, async () => {
    await using quick = await startWatchedWorld({ rates, minutesApart: 16 });
    expect(await read(quick, (sql) => findOffsetSpans(sql, SINCE))).toEqual([]);
  });

  test("looks no farther back than it is told", { tags: ["long"] }, async () => {
    await using quick = await startWatchedWorld({ rates });
    const now = quick.world.now().toISOString();
    expect(await read(quick, (sql) => findOffsetSpans(sql, now))).toEqual([]);
  });

  test("takes no look for one that did not join what is known", async () => {
    await using quick = await startWatchedWorld({ rates });
    const spans = await read(quick, async (sql) => {
      await sql`update sync.walks set walk = 'not_whole' where resource = 'build' and run_id = 3`;
      return findOffsetSpans(sql, SINCE);
    });
    // Of the runs 2 to 5, each of which found 3.
    expect(spans.reduce((sum, { builds }) => sum + builds, 0)).toBe(9);
  });

  test("allows for a service's clock that is off, and uses no run in which it was off by far", {
    tags: ["long"],
  }, async () => {
    await using quick = await startWatchedWorld({ rates });
    await read(quick, async (sql) => {
      // Dated by a clock that is 8 minutes ahead: an offset of 8 minutes, as far as the dates tell.
      await sql`update mirror.builds set date = date + interval '8 minutes'`;
      await sql`update sync.runs set clock_ahead_min_ms = 0, clock_ahead_max_ms = 0`;
      expect(judgeZone(await findOffsetSpans(sql, SINCE), "Etc/UTC")?.best).toBeNull();
      await sql`update sync.runs set clock_ahead_min_ms = 479000, clock_ahead_max_ms = 481000`;
      expect(judgeZone(await findOffsetSpans(sql, SINCE), "Etc/UTC")?.best?.zone).toBe("Etc/UTC");
      await sql`update sync.runs set clock_ahead_min_ms = 86400000, clock_ahead_max_ms = 86401000`;
      expect(await findOffsetSpans(sql, SINCE)).toEqual([]);
    });
  });

  test("uses no run in which the service's clock was off by more than a run can tell", {
    tags: ["long"],
  }, async () => {
    await using quick = await startWatchedWorld({ rates });
    await read(quick, async (sql) => {
      // What the ledger keeps of a clock that is 25 days or more behind, or ahead.
      for (const most of [-(2 ** 31), 2 ** 31 - 1]) {
        await sql`update sync.runs set clock_ahead_min_ms = ${most}, clock_ahead_max_ms = ${most}`;
        expect(await findOffsetSpans(sql, SINCE)).toEqual([]);
      }
    });
  });

  test("leaves out builds whose dates no zone explains", { tags: ["long"] }, async () => {
    await using quick = await startWatchedWorld({ rates });
    const spans = await read(quick, async (sql) => {
      await sql`update mirror.builds set date = date + interval '3 days' where id = (select max(id) from mirror.builds)`;
      return findOffsetSpans(sql, SINCE);
    });
    expect(spans.reduce((sum, { builds }) => sum + builds, 0)).toBe(11);
  });
});

describe("findFutureDates", () => {
  test("finds the dates that lie ahead of their first sight, as they are read", {
    tags: ["long"],
  }, async () => {
    await using quick = await startWatchedWorld({ rates, timeZone: "Asia/Tokyo", minutesApart: 60 });
    await read(quick, async (sql) => {
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
});
