import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { withSql } from "../../../src/store/connection/connect.ts";
import { measureServerClock } from "../../../src/store/connection/server-clock.ts";
import { createTestDatabase } from "../../support/database.ts";

test("the server's clock is measured by ours, whichever is ahead", async () => {
  await using database = await createTestDatabase({ migrated: false });
  await withSql(database.url, { applicationName: "docmirror test", max: 1 }, async (sql) => {
    for (const shiftMs of [0, 90_000, -90_000]) {
      const clock = { ...systemClock, now: () => new Date(Date.now() + shiftMs) };
      const { minMs, maxMs } = await measureServerClock(sql, clock);
      expect(minMs).toBeLessThanOrEqual(maxMs);
      // A server in a container of this machine has the same clock.
      expect(Math.abs(minMs + shiftMs)).toBeLessThan(30_000);
      expect(Math.abs(maxMs + shiftMs)).toBeLessThan(30_000);
    }
  });
});
