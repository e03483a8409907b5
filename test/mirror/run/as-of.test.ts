/** @module-tag long */
import { randomInt } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Resource } from "../../../src/resources/resources.ts";
import { createRandom, type Random } from "../../../src/simulate/random.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { type Kept, keepBack } from "../../support/keep-back.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";

const HOUR_MS = 3_600_000;
const MOMENTS = 12;
/** Which of the moments end a time in which a record of each resource was kept back. */
const BACK_AT = [4, 7, 9];
/** Until then the service shows nobody the version that a build names. */
const VERSION_COMES_AT = 6;
/** At these, when all that was kept back is shown again, a project and a version are deleted for good. */
const DELETED_AT = [10];

const RESOURCES = ["project", "version", "build"] as const;
const USERS = `(select coalesce(jsonb_agg(user_uri order by position), '[]')
  from mirror.project_users where project_id = record.id) as users`;
/** What the functions do not give, since it tells about our copy alone. */
const OURS = ["changed_at", "changed_run_id", "first_seen_run_id", "record_hash", "source", "listed"];

/** Two weeks of a world in which much changes; at each of the moments its mirror is copied table by table. */
async function liveThroughMoments(quick: QuickWorld, kept: Kept, seed: number, sql: Sql): Promise<string[]> {
  const { world } = quick;
  const random = createRandom(seed);
  const moments: string[] = [];
  const [named] = [...world.truth().records("build")].flatMap(
    ({ record }) => record.version?.match(/\d+/g)?.at(-1) ?? [],
  );
  kept.set(`version ${named}`, 404);
  for (let n = 0; n < MOMENTS; n++) {
    if (n === VERSION_COMES_AT) kept.delete(`version ${named}`);
    if (BACK_AT.includes(n)) for (const key of keptBriefly(kept, named)) kept.delete(key);
    if (BACK_AT.includes(n + 2))
      for (const resource of RESOURCES) kept.set(`${resource} ${drawListed(quick, resource, random)}`, 404);
    if (DELETED_AT.includes(n))
      for (const resource of ["project", "version"] as const)
        world.deleteRecord(resource, drawListed(quick, resource, random));
    forgetDeleted(quick, kept);
    // The clock stands still while a run goes on: its requests must not be of the moment that was copied.
    world.advance(1);
    // Few builds take so long that a run sees them open by chance, and one of them alone can be deleted before it ends.
    world.triggerBuilds(1);
    // Only a full run notices that a build is missing.
    const isTurn = n === 0 || BACK_AT.includes(n) || BACK_AT.includes(n + 2);
    const kind = !isTurn && random.chance(0.4) ? "incremental" : "full";
    const { summary, error } = await quick.sync({ kind, allowMassDelete: true });
    expect(error, `seed ${seed}`).toBeNull();
    // The head of the list shows by its count that builds are gone, and which ones a full walk finds out.
    if (kind === "full") expect(summary.status, `seed ${seed}`).toBe("succeeded");
    if (random.chance(0.7)) world.advance(random.next() * 10 * HOUR_MS);
    moments.push(world.now().toISOString());
    for (const resource of RESOURCES) {
      const more = resource === "project" ? `, ${USERS}` : "";
      await sql.unsafe(
        `create table copied_${resource}_${n} as select record.*${more} from mirror.${resource}s as record`,
      );
    }
    world.advance(random.next() * 30 * HOUR_MS);
  }
  return moments;
}

const keptBriefly = (kept: Kept, named: string | undefined) =>
  [...kept.keys()].filter((key) => key !== `version ${named}`);

function drawListed({ world }: QuickWorld, resource: Resource, random: Random): string {
  const listed = [...world.truth().records(resource)].filter((one) => one.listed);
  return String(listed[random.int(listed.length)]?.record.id);
}

/** What the world has deleted meanwhile is in no list that it could be kept from. */
function forgetDeleted({ world }: QuickWorld, kept: Kept): void {
  for (const { resource, id } of world.truth().deletions()) kept.delete(`${resource} ${id}`);
  for (const { record, listed } of world.truth().records("project"))
    if (!listed) kept.delete(`project ${record.id}`);
}

const columnsOf = async (sql: Sql, relation: string) => {
  const rows = await sql<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = ${relation}::regclass and attnum > 0 and not attisdropped order by attnum`;
  return rows.map(({ name }) => name);
};

const difference = (sql: Sql, one: string, other: string) =>
  sql.unsafe(`(${one} except all ${other}) union all (${other} except all ${one})`);

describe("the mirror as of a moment", () => {
  test(`is what its tables were then, at ${MOMENTS} random moments, and so is the history`, async () => {
    const seed = randomInt(2 ** 31);
    const kept: Kept = new Map();
    const sizes = { users: 30, projects: 20, versions: 60, files: 15, builds: 100, hiddenShare: 0.1 };
    const rates = {
      builds: 40,
      buildDeletions: 4,
      projectChanges: 15,
      administratorChanges: 8,
      hides: 4,
      versionChanges: 15,
      newVersions: 3,
      versionDeletions: 0,
      projectDeletions: 0,
      newProjects: 1,
    };
    await using quick = await startQuickWorld({ ...sizes, seed, rates }, keepBack(kept));
    const { sql } = quick;
    const moments = await liveThroughMoments(quick, kept, seed, sql);
    const told: Record<string, number> = {};
    for (const resource of RESOURCES) {
      const columns = await columnsOf(sql, `mirror.${resource}_as_of`);
      const stored = await columnsOf(sql, `copied_${resource}_0`);
      expect(columns.toSorted()).toEqual(stored.filter((name) => !OURS.includes(name)).toSorted());
      const list = columns.join(", ");
      for (const [n, moment] of moments.entries()) {
        const asOf = `select ${list} from mirror.${resource}s_as_of('${moment}')`;
        const copied = `select ${list} from copied_${resource}_${n}`;
        expect(await difference(sql, asOf, copied), `seed ${seed}, ${resource}s at ${moment}`).toEqual([]);
        if (resource === "build") continue;
        const shared = columns.filter((name) => name !== "first_seen_at" && name !== "deleted_at").join(", ");
        const live = `select ${shared} from copied_${resource}_${n} where deleted_at is null`;
        const history = `select ${shared} from mirror.${resource}_history
          where valid_from <= '${moment}' and (valid_to > '${moment}' or valid_to is null)`;
        expect(await difference(sql, history, live), `seed ${seed}, history at ${moment}`).toEqual([]);
      }
      const kinds = await sql<{ kind: string }[]>`
        select distinct kind from mirror.changes where resource = ${resource}`;
      told[resource] = kinds.length;
    }
    // That nothing happened would prove nothing.
    const [much] = await sql`
      select (select count(*) from mirror.changes where after ? 'users') > 0 as administrators,
        (select count(*) from mirror.changes) > 100 as changes,
        (select count(*) from copied_build_0 where version_uri is not null and version_id is null) > 0 as pending,
        (select count(*) from mirror.builds as build join copied_build_0 as copied using (id)
          where build.version_id is not null and copied.version_id is null) > 0 as resolved`;
    expect({ ...told, ...much }, `seed ${seed}`).toEqual({
      project: 3,
      version: 3,
      build: 3,
      administrators: true,
      changes: true,
      pending: true,
      resolved: true,
    });
  });
});
