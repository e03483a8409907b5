import { expect, test } from "vitest";
import { StoppedError } from "../../../src/base/errors.ts";
import { staleLists } from "../../../src/notify/state-notices.ts";
import { withSnapshot } from "../../../src/report/read-answer.ts";
import { findFigures } from "../../../src/report/status/figures.ts";
import { findStatus } from "../../../src/report/status/find-status.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { NO_LIMIT } from "../../support/no-limit.ts";
import { startQuickWorld } from "../../support/quick-world.ts";

const HOUR_MS = 3_600_000;
const FEW = { users: 4, projects: 4, versions: 8, files: 4 };

test("a list whose walk was resumed is as fresh as its first page", async () => {
  const stop = new AbortController();
  let asked = 0;
  await using quick = await startQuickWorld({ ...FEW, builds: 300, rates: QUIET }, (request, next) => {
    if (new URL(request.url).pathname === "/api/v1/build/") asked += 1;
    if (asked === 12) stop.abort(new StoppedError("SIGTERM"));
    return next();
  });
  const began = quick.world.now().getTime();
  expect((await quick.sync({ signal: stop.signal })).summary.status).toBe("interrupted");
  quick.world.advance(5 * HOUR_MS);
  expect((await quick.sync()).summary.status).toBe("succeeded");
  const now = quick.world.now();
  const settings = { stuckAfterMs: 24 * HOUR_MS, sourceTimezone: "Etc/UTC", ...NO_LIMIT };
  const { sql } = quick;
  const status = await findStatus(sql, { ...settings, staleAfterMs: 4 * HOUR_MS }, now);
  const build = status.resources.find(({ resource }) => resource === "build");
  expect(build).toMatchObject({ walk: "whole", stale: true });
  expect(Date.parse(build?.last_good_at ?? "") - began).toBeLessThan(HOUR_MS);
  expect(build?.age_ms).toBeGreaterThanOrEqual(5 * HOUR_MS);
  expect(status.age_ms).toBeGreaterThanOrEqual(5 * HOUR_MS);

  const figures = await withSnapshot(sql, (tx) => findFigures(tx, { ...settings, isWorker: false }));
  const lastGood = "docmirror_list_last_good_timestamp_seconds";
  const lastGoodAt = figures.find((row) => lastGood in row && row.resource === "build")?.[lastGood];
  expect(lastGoodAt).toBe(Date.parse(build?.last_good_at ?? "") / 1000);

  const [fresh] = await sql<{ at: number; ended: number }[]>`
    select extract(epoch from current_through)::float8 as at from report.freshness where resource = 'build'`;
  expect(fresh?.at).toBe(lastGoodAt);

  const look = { staleAfterMs: 4 * HOUR_MS, now: now.toISOString() };
  const { news = [] } = (await staleLists.look(sql, look, "{}")) ?? {};
  expect(news.map(({ data }) => data.resource)).toContain("build");
});
