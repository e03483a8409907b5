import { describe, expect, test } from "vitest";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { restoreStored } from "../../support/mirror-rows.ts";
import { editReplies, startQuickWorld } from "../../support/quick-world.ts";
import type { World } from "../../support/simulation.ts";

const HOUR_MS = 3_600_000;

/**
 * Every record that the service lists is in the mirror as it is sent. Of a project that was listed once and is hidden now the
 * last listed copy beats embedded ones of the same age, so within versions and files only its id is compared.
 */
async function expectTruth(sql: Sql, world: World): Promise<void> {
  const projects = [...world.truth().records("project")];
  const hidden = new Set(projects.filter(({ listed }) => !listed).map(({ record }) => record.id));
  const comparable = (record: object | undefined) => {
    const project = (record as { project?: { id: string } | string } | undefined)?.project;
    const isHidden = typeof project === "object" && hidden.has(project.id);
    return isHidden ? { ...record, project: project.id } : record;
  };
  for (const resource of RESOURCES) {
    const stored = await restoreStored(sql, resource);
    const listed = [...world.truth().records(resource)].filter((one) => one.listed);
    const expected = new Map(listed.map(({ record }) => [record.id, comparable(record)]));
    expect(new Map([...expected.keys()].map((id) => [id, comparable(stored.get(id))]))).toEqual(expected);
    const deletions = [...world.truth().deletions()].filter((one) => one.resource === resource);
    const gone = deletions.map(({ id }) => id);
    const known = new Set([...expected.keys(), ...gone, ...(resource === "project" ? hidden : [])]);
    expect([...stored.keys()].filter((id) => !known.has(id))).toEqual([]);
    // What the list shows no more is deleted here, and nothing else; what it never showed is left as it is.
    const live = await sql.unsafe<{ id: string }[]>(
      `select id from mirror.${resource}s where deleted_at is null ${resource === "project" ? "and listed" : ""}`,
    );
    expect(live.map(({ id }) => id).sort()).toEqual([...expected.keys()].sort());
  }
}

async function expectTrueTransitions(sql: Sql, world: World): Promise<number> {
  const truth = new Map<string, number>();
  for (const { buildId, to, atMs } of world.truth().transitions()) truth.set(`${buildId} ${to}`, atMs);
  const rows = await sql<{ transition: string; after: number; until: number; anomaly: string | null }[]>`
    select build_id || ' ' || to_state as transition, anomaly,
      extract(epoch from not_before)::float8 * 1000 as after, extract(epoch from not_after)::float8 * 1000 as until
    from mirror.build_transitions`;
  const wrong = rows.filter(({ transition, after, until, anomaly }) => {
    const at = truth.get(transition) ?? Number.NaN;
    const isOdd = anomaly !== null && anomaly !== "repeated_hour";
    return isOdd || !(after <= at + 0.01 && at <= until + 0.01);
  });
  expect(wrong).toEqual([]);
  return rows.length;
}

describe("a mirror of the simulated service", () => {
  test("is equal after days over the end of summer time, within its bounds", { tags: ["long"] }, async () => {
    const startAt = new Date("2024-11-01T12:00:00Z");
    await using quick = await startQuickWorld({
      users: 30,
      projects: 20,
      versions: 60,
      files: 40,
      builds: 200,
      startAt,
      timeZone: "America/Chicago",
      hiddenShare: 0.1,
      rates: { builds: 120, hides: 2, projectChanges: 12, administratorChanges: 6, userDeletions: 2 },
    });
    for (let day = 0; day < 4; day++) {
      for (const hours of [0.05, 0.05, 0.1, 23.8]) {
        quick.world.advance(hours * HOUR_MS);
        const { summary, error } = await quick.sync({ settings: { fullEveryDays: 2, pageSize: 50 } });
        expect([summary.status, error]).toEqual(["succeeded", null]);
      }
    }
    const { summary } = await quick.sync({ kind: "full" });
    expect(summary.status).toBe("succeeded");
    const { sql } = quick;
    await expectTruth(sql, quick.world);
    expect(await expectTrueTransitions(sql, quick.world)).toBeGreaterThan(500);
    const [row] = await sql`
      select count(*) filter (where seq > 1) >= 10 as moved, count(distinct run_id) > 3 as spread
      from mirror.build_transitions`;
    expect(row).toEqual({ moved: true, spread: true });
  });

  test("is parsed only where builds are new, deleted or edited", { tags: ["long"] }, async () => {
    let edited: unknown;
    const few = { users: 5, projects: 5, versions: 10, files: 5, builds: 300 };
    const edit = editReplies((text, { pathname }) =>
      edited === undefined || pathname !== "/api/v1/build/"
        ? null
        : text.replace(new RegExp(`"id": ?"?${edited}"?,`), '$&"mood":"good",'),
    );
    await using quick = await startQuickWorld({ ...few, rates: QUIET }, edit);
    const { sql, world } = quick;
    const builds = () => [...world.truth().records("build")].filter(({ listed }) => listed);
    const night = async (happens: () => void) => {
      happens();
      world.advance(HOUR_MS);
      const { summary } = await quick.sync({ kind: "full", settings: { concurrency: 1 } });
      expect(summary).toMatchObject({ status: "succeeded", resources: { build: { walk: "whole" } } });
      // A page that was not parsed was loaded by an earlier run.
      const [parsed] = await sql<{ pages: number }[]>`
          select count(*)::int as pages from sync.pages
          where resource = 'build' and run_id = (select max(id) from sync.runs)`;
      if (edited === undefined) await expectTruth(sql, world);
      return { requests: summary.resources.build?.pages ?? 0, parsed: parsed?.pages ?? 0 };
    };
    const first = await night(() => {});
    expect(first.parsed).toBe(first.requests);
    const more = await night(() => world.triggerBuilds(25));
    expect(more.parsed).toBeLessThanOrEqual(3);
    const fewer = await night(() => {
      world.triggerBuilds(5);
      world.deleteRecord("build", String(builds()[150]?.record.id));
    });
    expect(fewer.parsed).toBeLessThanOrEqual(6);
    edited = builds()[100]?.record.id;
    const last = await night(() => world.triggerBuilds(1));
    expect(last.parsed).toBeGreaterThan(1);
    const [build] = await sql`select extra from mirror.builds where id = ${String(edited)}`;
    expect(build).toEqual({ extra: { values: { mood: "good" } } });
    for (const { requests } of [more, fewer, last]) expect(requests).toBeLessThanOrEqual(first.requests + 3);
  });
});
