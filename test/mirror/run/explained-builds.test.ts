import { expect, test } from "vitest";
import { explainBuild } from "../../../src/mirror/builds/explain-build.ts";
import { findOffsetSpans, judgeZone } from "../../../src/mirror/builds/source-zone.ts";
import { startQuickWorld } from "../../support/quick-world.ts";

const MINUTE_MS = 60_000;
const ZONE = "America/Chicago";

test("builds that were watched are explained, and took what they took", { tags: ["long"] }, async () => {
  const rates = { builds: 900 };
  await using quick = await startQuickWorld({ timeZone: ZONE, builds: 200, rates });
  await quick.sync();
  for (let minute = 0; minute < 40; minute++) {
    quick.world.advance(MINUTE_MS);
    expect((await quick.watch()).error).toBeNull();
  }
  const truth = new Map<string, number>();
  for (const { buildId, to, atMs } of quick.world.truth().transitions()) truth.set(`${buildId} ${to}`, atMs);
  const { sql } = quick;
  const ids = await sql<{ id: string }[]>`
    select build_id as id from mirror.build_transitions where run_id > 1 group by build_id`;
  let finished = 0;
  for (const { id } of ids) {
    const { build } = await explainBuild(sql, id, ZONE);
    for (const { rule, first_seen, predecessor_last_seen, before_date_ms } of build?.transitions ?? []) {
      expect(first_seen.request).toMatch(/^\/api\/v1\/build\//);
      expect(rule).toBe(predecessor_last_seen ? "last_seen" : "date");
      if (rule === "last_seen") expect(predecessor_last_seen?.run.id).toBeLessThan(first_seen.run.id);
      else expect(before_date_ms).toBe(0);
    }
    const took = (truth.get(`${id} finished`) ?? Number.NaN) - (truth.get(`${id} triggered`) ?? Number.NaN);
    if (!build?.duration || Number.isNaN(took)) continue;
    finished += 1;
    expect(build.duration.least_ms).toBeLessThanOrEqual(took + 0.01);
    expect(build.duration.most_ms).toBeGreaterThanOrEqual(took - 0.01);
  }
  expect(finished).toBeGreaterThan(10);
  const spans = await findOffsetSpans(sql, "2024-01-01T00:00:00Z");
  expect(judgeZone(spans, "Etc/UTC")).toMatchObject({ best: { zone: ZONE } });
});
