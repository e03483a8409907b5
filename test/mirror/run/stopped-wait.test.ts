import { expect, it } from "vitest";
import { StoppedError } from "../../../src/base/errors.ts";
import { withTestSql } from "../../support/database.ts";
import { startQuickWorld } from "../../support/quick-world.ts";

it("a stop ends a sync that waits for another session's table, and the run is interrupted", async () => {
  await using quick = await startQuickWorld({ users: 2, projects: 2, versions: 2, files: 2, builds: 10 });
  await withTestSql(quick.databaseUrl, async (holder) => {
    await holder.begin(async (tx) => {
      await tx`lock table mirror.builds`;
      const stop = new AbortController();
      const running = quick.sync({ kind: "full", signal: stop.signal });
      const countWaits = async () =>
        (await quick.sql`select from pg_locks where relation = 'mirror.builds'::regclass and not granted`)
          .length;
      await expect.poll(countWaits, { timeout: 60_000 }).toBeGreaterThan(0);
      stop.abort(new StoppedError("SIGTERM"));
      // The table is still held.
      const { summary, error } = await running;
      expect(summary.status).toBe("interrupted");
      expect(error).toBe(stop.signal.reason);
      // Nothing of it waits on, as where only its connections were closed.
      await expect.poll(countWaits, { timeout: 30_000 }).toBe(0);
    });
  });
});
