import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { resolveReferences } from "../../../src/mirror/run/repair-references.ts";
import { createRandom, type Random } from "../../../src/simulate/random.ts";
import { type Loading, setUpLoading } from "../../support/loading.ts";
import { wireBuild, wireProject, wireVersion } from "../../support/wire-records.ts";

const START = Date.UTC(2024, 4, 1);
const IDS = ["1", "2", "3"];
const STEPS = 60;
const RESOURCES = ["project", "version", "build"] as const;
type Told = (typeof RESOURCES)[number];

/** What is compared; the fields that the steps below move. */
const FIELDS: Record<Told, string> = {
  project: "id, name, slug, modified_date, extra, users, first_seen_at, deleted_at",
  version: "id, slug, active, extra, project_id, first_seen_at, deleted_at",
  build: "id, state, success, project_uri, extra, first_seen_at, deleted_at",
};
const USERS = `(select coalesce(jsonb_agg(user_uri order by position), '[]')
  from mirror.project_users where project_id = record.id) as users`;

/** One record as it stood from a moment on; the next one of the same id takes its place. */
interface Copy {
  at: number;
  step: number;
  row: Row;
}
type Row = Record<string, unknown> & { first_seen_at?: string; deleted_at?: string | null };

const iso = (ms: number) => new Date(ms).toISOString();

/** Any of what may happen to a record: seen in a list, by its detail, embedded in another, gone, or all of it in one moment. */
async function step({ load, loader, sql }: Loading, random: Random, at: number): Promise<void> {
  const pick = <T>(values: readonly T[]) => values[random.int(values.length)] as T;
  const id = pick(IDS);
  const options = { at: iso(at), source: pick(["list", "list", "detail"] as const) };
  const project = () =>
    wireProject(pick(IDS), {
      name: pick(["One", "Two", 3]),
      slug: pick(["renamed", "as-before", null]),
      users: pick([[], ["/api/v1/user/1/"], ["/api/v1/user/2/", "/api/v1/user/1/"], "odd"]),
      modified_date: pick(["2024-05-01T10:00:00", "2024-05-02T10:00:00.5", "9999-12-31T00:00:00", null]),
    });
  const version = () =>
    wireVersion(id, project(), { slug: pick(["latest", "renamed"]), active: pick([true, false, "odd"]) });
  const build = () =>
    wireBuild(id, {
      state: pick(["triggered", "building", "finished"]),
      success: pick([true, false]),
      project: pick([`/api/v1/project/${pick(IDS)}/`, null]),
    });
  const gone = pick(RESOURCES);
  const happening = random.int(10);
  if (happening < 3) await load("project", [project()], options);
  else if (happening < 5) await load("version", [version()], options);
  else if (happening < 7) await load("build", [build()], options);
  else {
    await sql`insert into sync.missing_records values (${gone}, ${id}, 1, ${iso(at)}, null)
      on conflict do nothing`;
    await loader.retire([{ resource: gone, id, askedAt: iso(at), observedAt: iso(at), request: null }]);
  }
}

/** Adds a copy of each record that is not as it was: it counts from now, and never from before an earlier one of the same record. */
async function keepCopies(
  { sql }: Loading,
  copies: Map<string, Copy[]>,
  now: number,
  step: number,
): Promise<void> {
  for (const resource of RESOURCES) {
    const rows = await sql.unsafe<Row[]>(
      `select ${FIELDS[resource]} from (select record.*${resource === "project" ? `, ${USERS}` : ""}
         from mirror.${resource}s as record) as record`,
    );
    for (const row of rows) {
      const key = `${resource} ${row.id}`;
      const known = copies.get(key) ?? [];
      copies.set(key, known);
      const last = known.at(-1);
      if (JSON.stringify(last?.row) === JSON.stringify(row)) continue;
      known.push({ at: Math.max(now, last?.at ?? now), step, row: { ...row } });
    }
  }
}

test("records renamed, hidden, restored and moved, by a clock that goes back, look back as they were", async () => {
  const seed = Number(process.env.SEED ?? randomInt(2 ** 31));
  const random = createRandom(seed);
  await using loading = await setUpLoading();
  const { sql } = loading;
  const copies = new Map<string, Copy[]>();
  const moments = new Set<number>();
  let at = START;
  for (let n = 0; n < STEPS; n++) {
    // Now and then nothing passes, or the clock is set back.
    at += random.chance(0.2) ? 0 : random.chance(0.15) ? -90_000 : 1000 + random.int(60_000);
    if (random.chance(0.3)) loading.nextRun();
    await step(loading, random, at);
    await resolveReferences(sql);
    await keepCopies(loading, copies, at, n);
    moments.add(at);
  }
  for (const moment of moments) {
    const asIs = (resource: Told): Row[] =>
      IDS.flatMap<Row>(
        (id) => copies.get(`${resource} ${id}`)?.findLast((copy) => copy.at <= moment)?.row ?? [],
      );
    const here = new Set<unknown>(asIs("project").map(({ id }) => id));
    // A project that came after the build had left it, by a clock that went back, was never joined to it.
    const cameAfter = (build: Row, project: string | undefined) => {
      const lives = copies.get(`build ${build.id}`) ?? [];
      const later = lives.slice(lives.findIndex(({ row }) => row === build) + 1);
      const left = later.find(({ row }) => row.project_uri !== build.project_uri);
      return left !== undefined && (copies.get(`project ${project}`)?.[0]?.step ?? 0) > left.step;
    };
    for (const resource of RESOURCES) {
      const what = `seed ${seed}, ${resource}s at ${iso(moment)}`;
      const then = asIs(resource);
      const keyed = then.map((row) => {
        // A build's key comes with the project, which is no change of the build.
        const key = resource === "build" ? String(row.project_uri).match(/\d+(?=\/$)/)?.[0] : row.project_id;
        const isHere = here.has(key) && !(resource === "build" && cameAfter(row, String(key)));
        return resource === "project" ? row : { ...row, project_id: isHere ? key : null };
      });
      const asOf = await sql.unsafe(
        `select ${FIELDS[resource]}${resource === "build" ? ", project_id" : ""} from mirror.${resource}s_as_of('${iso(moment)}') order by id`,
      );
      expect([...asOf], what).toEqual(keyed);
      if (resource === "build") continue;
      const history = await sql.unsafe(
        `select ${FIELDS[resource].replace(/, first_seen_at.*/, "")} from mirror.${resource}_history
         where valid_from <= '${iso(moment)}' and (valid_to > '${iso(moment)}' or valid_to is null) order by id`,
      );
      const live = then.filter((row) => row.deleted_at === null);
      expect([...history], `history: ${what}`).toEqual(
        live.map(({ first_seen_at: _first, deleted_at: _deleted, ...row }) => row),
      );
    }
  }
});
