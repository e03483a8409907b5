/**
 * @module-tag long
 *
 * Refreshes while real runs read a service: beside any request of a first sync, of rounds of the watch and of later syncs, and some at
 * once, for which they take turns. The answers that were kept up to date are those that are computed from nothing.
 */
import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { createRandom } from "../../../src/simulate/random.ts";
import { connectionsOf } from "../../support/connections.ts";
import { startQuickWorld } from "../../support/quick-world.ts";
import { readBothWays } from "./stored-answers.ts";

const SEED = Number(process.env.REFRESH_SEED ?? randomInt(1_000_000));
const SMALL = { users: 8, projects: 10, versions: 25, files: 10, builds: 80 };

test.each([0, 1, 2, 3, 4, 5])("beside the requests of runs, course %d", { timeout: 300_000 }, async (nth) => {
  const seed = SEED + nth;
  const random = createRandom(seed);
  const refreshes: Promise<unknown>[] = [];
  let refresh: () => Promise<unknown> = async () => {};
  await using quick = await startQuickWorld({ ...SMALL, seed: random.int(1000) }, async (_request, next) => {
    const reply = await next();
    if (!random.chance(0.35)) return reply;
    const refreshing = refresh();
    refreshes.push(refreshing);
    // What came before is stored meanwhile; this reply is stored while it runs, or behind it.
    if (random.chance(0.5)) await refreshing.catch(() => {});
    return reply;
  });
  const settings = { sourceTimezone: quick.world.settings.timeZone, stuckAfterMs: 7_200_000 };
  refresh = () => refreshReport(connectionsOf(quick.databaseUrl).sql, settings);
  for (const work of ["sync", "watch", "watch", "sync", "watch", "sync"] as const) {
    await quick[work]();
    quick.world.advance(work === "sync" ? 30 * 60_000 : 12 * 3_600_000);
    quick.world.triggerBuilds(3);
  }
  await Promise.all(refreshes);
  expect(refreshes.length).toBeGreaterThan(0);
  const { kept, anew } = await readBothWays(quick, settings);
  expect(kept, `REFRESH_SEED=${seed}`).toEqual(anew);
});
