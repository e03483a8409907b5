import { describe, expect, it } from "vitest";
import { type VerifyOptions, verifyMirror } from "../../../src/mirror/verify/verify.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { findRecord } from "../../../src/serve/catalog/mirror-catalog.ts";
import { QUIET, type WorldOptions } from "../../../src/simulate/settings.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { withDefaults } from "../../support/sync.ts";

function verify({ databaseUrl, baseUrl, world }: QuickWorld, over: Partial<VerifyOptions>) {
  const clock = { now: () => world.now(), sleep: async (ms: number) => world.advance(ms) };
  const settings = { sourceTimezone: world.settings.timeZone };
  const options = { resources: RESOURCES, sample: 300, waitMs: 0, findServed: findRecord, ...over };
  return verifyMirror({
    ...withDefaults<VerifyOptions>(databaseUrl, baseUrl, { clock, settings }),
    ...options,
  });
}

/** The chance that a draw of so many of `all`, none twice, has one of the wrong ones. */
function chanceOfOne(wrong: number, all: number, drawn: number): number {
  let none = 1;
  for (let left = 0; left < drawn; left++) none *= Math.max(0, (all - wrong - left) / (all - left));
  return 1 - none;
}

async function plant(world: WorldOptions, wrong: number, runs: number, sample: number) {
  await using quick = await startQuickWorld({ rates: QUIET, hiddenShare: 0, stuckShare: 0, ...world });
  const { sql } = quick;
  expect((await quick.sync({ settings: { pageSize: 1000 } })).summary.status).toBe("succeeded");
  await sql`
    update mirror.builds set type = 'wrong' where id in (select id from mirror.builds order by md5(id) limit ${wrong})`;
  const [{ all = 0 } = {}] = await sql<{ all: number }[]>`
    select (select count(*) from mirror.users) + (select count(*) from mirror.projects) + (select count(*) from mirror.versions)
      + (select count(*) from mirror.files) + (select count(*) from mirror.builds) as all`;
  // Each half is a draw of its own.
  const half = chanceOfOne(wrong, all, sample / 2);
  const chance = 1 - (1 - half) ** 2;
  let foundIn = 0;
  for (let run = 0; run < runs; run++) {
    const { found } = await verify(quick, { sample });
    expect(
      found.every(({ verdict, differences }) => verdict === "wrong" && differences[0]?.field === "type"),
    ).toBe(true);
    if (found.length > 0) foundIn += 1;
    // What was found is not looked at again, so that the runs are alike.
    await sql`delete from sync.checks`;
  }
  // One run of 16,000 of this test is beyond four deviations.
  const deviation = Math.sqrt(runs * chance * (1 - chance));
  expect(Math.abs(foundIn - runs * chance), `${foundIn} of ${runs}, expected ${runs * chance}`).toBeLessThan(
    4 * deviation + 0.5,
  );
}

describe("wrong values in the tables", () => {
  const FEW: WorldOptions = { users: 10, projects: 10, versions: 10, files: 20, builds: 150 };
  const MANY: WorldOptions = { users: 1000, projects: 1000, versions: 3000, files: 3000, builds: 12_000 };

  it("are found as often as the formula says", { tags: ["long"], timeout: 600_000 }, async () => {
    await plant(FEW, 4, 25, 20);
  });

  it.each([1, 10, 100])("%d of 20,000 are found as often as the formula says", {
    tags: ["long", "exhaustive"],
    timeout: 3_600_000,
  }, async (wrong) => {
    await plant({ ...MANY, outputBytes: 100 }, wrong, 200, 300);
  });
});

describe("a living service", () => {
  it("of births, edits and deletions raises no false alarm", {
    tags: ["long"],
    timeout: 600_000,
  }, async () => {
    await using quick = await startQuickWorld({
      users: 30,
      projects: 20,
      versions: 60,
      files: 40,
      builds: 200,
      outputBytes: 50,
      // Thousands of each a day: some in each minute.
      rates: {
        builds: 3000,
        buildDeletions: 100,
        projectChanges: 1000,
        administratorChanges: 500,
        hides: 60,
        logins: 2000,
        newUsers: 100,
        userDeletions: 50,
        newProjects: 50,
        projectDeletions: 20,
        versionChanges: 2000,
        newVersions: 200,
        versionDeletions: 50,
        newFiles: 200,
        fileDeletions: 100,
      },
    });
    const settings = { replicaLagMs: 0 };
    await quick.sync({ settings });
    const seen = { equal: 0, changed: 0, wrong: 0, unclear: 0 };
    for (let minute = 0; minute < 28; minute += 4) {
      quick.world.advance(120_000);
      // A run, and the world, go on while the check looks.
      const [{ all, found }] = await Promise.all([
        verify(quick, { sample: 30, waitMs: 60_000 }),
        quick.sync({ kind: minute % 3 === 0 ? "full" : "incremental", settings }),
      ]);
      expect(found.filter(({ verdict }) => verdict === "wrong")).toEqual([]);
      for (const name of ["equal", "changed", "wrong", "unclear"] as const) seen[name] += all[name];
      quick.world.advance(60_000);
    }
    expect(seen.wrong).toBe(0);
    expect(seen.changed).toBeGreaterThan(0);
    expect(seen.equal).toBeGreaterThan(90);
  });
});
