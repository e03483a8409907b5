/** Living services that give ids of builds again, followed by syncs and rounds of the watch, and held against the truth. */
import { expect, test } from "vitest";
import { judge } from "../../../lab/judge/lives.ts";
import { findDifferences } from "../../../lab/judge/records.ts";
import { createRandom } from "../../../src/simulate/random.ts";
import { startQuickWorld } from "../../support/quick-world.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Worlds in the suite; more by hand: `WORLDS=50 npx vitest run test/mirror/run/given-again.test.ts`. */
const WORLDS = Number(process.env.WORLDS ?? 3);

async function live(seed: number, turns = 12): Promise<void> {
  const random = createRandom(seed);
  const few = { users: 4, projects: 6, versions: 12, files: 4, builds: 200 };
  const rates = { builds: 400, buildDeletions: 8, hides: 0, projectDeletions: 0, versionDeletions: 0 };
  await using quick = await startQuickWorld({ ...few, seed, rates, hiddenShare: 0, clockSteps: false });
  const { world, sql } = quick;
  const beganMs = world.now().getTime();
  const settings = { replicaLagMs: 0, maxDeleteRatio: 1 };
  await quick.sync({ kind: "full", settings });
  let given = 0;
  for (let turn = 0; turn < turns; turn++) {
    world.advance((1 + random.int(90)) * MINUTE_MS);
    const newest = [...world.truth().records("build")].slice(-(1 + random.int(4)));
    if (random.chance(0.3)) world.restoreBuilds(new Date(world.now().getTime() - random.int(3 * HOUR_MS)));
    else if (random.chance(0.5)) {
      for (const { record } of newest) world.deleteRecord("build", record.id);
      world.restartDatabase();
    }
    world.advance((1 + random.int(90)) * MINUTE_MS);
    if (random.chance(0.5)) await quick.watch({ settings });
    else await quick.sync({ settings });
  }
  await quick.sync({ kind: "full", allowMassDelete: true, settings });
  world.advance(1);
  await quick.sync({ kind: "full", allowMassDelete: true, settings });
  [{ given = 0 } = {}] = await sql<
    { given: number }[]
  >`select count(*)::int as given from mirror.builds where life > 1`;
  expect(given).toBeGreaterThan(0);
  expect(await findDifferences(quick.databaseUrl, world)).toEqual([]);
  const { faults, inside, transitions } = await judge(
    { world, beganMs, looks: [], requests: 0 },
    quick.databaseUrl,
  );
  expect(faults).toEqual([]);
  expect(inside).toBe(transitions);
  // What is true of an earlier life: it is over before the next one begins.
  const mixed = await sql`
    select past.build_id from mirror.past_transitions as past
    join mirror.build_transitions as first on first.build_id = past.build_id and first.seq = 1
    where past.not_before >= first.not_after`;
  expect(mixed).toEqual([]);
}

const title = "a mirror of a service that gives ids again has the newest builds, and the times of each";

test(title, { timeout: 600_000 }, () => live(1, 6));
test(`${title}, in more worlds`, { tags: ["long"], timeout: 3_600_000 }, async () => {
  for (let seed = 1; seed <= WORLDS; seed++) await live(seed);
});
