import { describe, expect, test } from "vitest";
import { resolveReferences } from "../../../src/mirror/run/repair-references.ts";
import type { Resource } from "../../../src/resources/resources.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { type Loading, loadingTest, setUpLoading } from "../../support/loading.ts";
import { wireBuild, wireProject, wireVersion } from "../../support/wire-records.ts";

const day = (n: number) => `2024-05-${String(n).padStart(2, "0")}T12:00:00.000Z`;
/** The same moment as Postgres prints it. */
const shown = (n: number) => `2024-05-${String(n).padStart(2, "0")} 12:00:00+00`;

async function retire({ sql, loader }: Loading, resource: Resource, id: string, at: string): Promise<void> {
  await sql`insert into sync.missing_records values (${resource}, ${id}, 1, ${at}, null)`;
  await loader.retire([{ resource, id, askedAt: at, observedAt: at, request: null }]);
}

const see = (loading: Loading, n: number, over: Record<string, unknown> = {}) =>
  loading.load("project", [wireProject("1", over)], { at: day(n) });

const historyOf = ({ sql }: Loading) =>
  sql`select name, users, valid_from, valid_to from mirror.project_history where id = '1' order by valid_from`;

describe("the history of a project", () => {
  loadingTest(
    "begins at its first sight and has a row for each state, the last one open",
    async ({ loading }) => {
      const both = { users: ["/api/v1/user/2/", "/api/v1/user/1/"] };
      const third = { name: "Third", users: ["/api/v1/user/3/"] };
      for (const n of [1, 2]) await see(loading, n, both);
      await see(loading, 3, { name: "Second", modified_date: "2024-05-03T00:00:00" });
      await see(loading, 4, { ...third, modified_date: "2024-05-04T00:00:00" });
      expect(await historyOf(loading)).toEqual([
        { name: "Project 1", ...both, valid_from: shown(1), valid_to: shown(3) },
        { name: "Second", users: [], valid_from: shown(3), valid_to: shown(4) },
        { ...third, valid_from: shown(4), valid_to: null },
      ]);
    },
  );

  loadingTest(
    "has no row for the time in which it was deleted, nor for a change in that time",
    async ({ loading }) => {
      await see(loading, 1);
      await retire(loading, "project", "1", day(2));
      const embedded = wireProject("1", { name: "Second", modified_date: "2024-05-03T00:00:00" });
      await loading.load("version", [wireVersion("11", embedded)], { at: day(3) });
      await see(loading, 4, { name: "Third", modified_date: "2024-05-04T00:00:00" });
      await retire(loading, "project", "1", day(5));
      expect((await loading.sql`select 1 from mirror.changes`).length).toBe(5);
      expect(await historyOf(loading)).toEqual([
        { name: "Project 1", users: [], valid_from: shown(1), valid_to: shown(2) },
        { name: "Third", users: [], valid_from: shown(4), valid_to: shown(5) },
      ]);
    },
  );

  loadingTest(
    "counts a change that was stored late from when those before it were seen, as the mirror as of then does",
    async ({ loading }) => {
      await see(loading, 1);
      await see(loading, 4, { name: "Second", modified_date: "2024-05-04T00:00:00" });
      // A later run counts as later, although its clock was put back.
      loading.nextRun();
      await see(loading, 3, { name: "Second", theme: "late", modified_date: "2024-05-05T00:00:00" });
      const states = await loading.sql`
      select theme, valid_from, valid_to from mirror.project_history order by valid_from`;
      expect(states).toEqual([
        { theme: "default", valid_from: shown(1), valid_to: shown(4) },
        { theme: "late", valid_from: shown(4), valid_to: null },
      ]);
      const asOf = await loading.sql`
      select name, theme, modified_date from mirror.projects_as_of('2024-05-03T18:00:00Z')`;
      expect(asOf).toEqual([{ name: "Project 1", theme: "default", modified_date: "2024-05-01 10:00:00.5" }]);
    },
  );
});

loadingTest(
  "the history of a version tells its columns and what they could not hold",
  async ({ loading }) => {
    await loading.load("version", [wireVersion("11", wireProject("1"))], { at: day(1) });
    await loading.load("version", [wireVersion("11", wireProject("2"), { active: "no" })], { at: day(2) });
    const rows = await loading.sql`
    select active, project_id, extra, valid_from, valid_to from mirror.version_history where id = '11' order by valid_from`;
    const extra = { values: { active: "no" } };
    expect(rows).toEqual([
      { active: true, project_id: "1", extra: null, valid_from: shown(1), valid_to: shown(2) },
      { active: true, project_id: "2", extra, valid_from: shown(2), valid_to: null },
    ]);
  },
);

describe("as of a moment", () => {
  loadingTest(
    "a record is deleted from its deletion until its return, and not here before its first sight",
    async ({ loading }) => {
      await loading.load("build", [wireBuild("31")], { at: day(10) });
      await retire(loading, "build", "31", day(12));
      await loading.load("build", [wireBuild("31", { state: "finished" })], { at: day(14) });
      await retire(loading, "build", "31", day(16));
      const seen: unknown[] = [];
      for (const n of [9, 10, 12, 13, 14, 16, 17]) {
        const [row] = await loading.sql`select state, deleted_at from mirror.builds_as_of(${day(n)})`;
        seen.push(row ? [n, row.state, row.deleted_at] : [n]);
      }
      expect(seen).toEqual([
        [9],
        [10, "triggered", null],
        [12, "triggered", shown(12)],
        [13, "triggered", shown(12)],
        [14, "finished", null],
        [16, "finished", shown(16)],
        [17, "finished", shown(16)],
      ]);
    },
  );

  loadingTest(
    "a build's key is that of the URI it had then, and null while that record was not here",
    async ({ loading }) => {
      const naming = (id: string) => [wireBuild("31", { version: `/api/v1/version/${id}/` })];
      await loading.load("project", [wireProject("1")], { at: day(10) });
      await loading.load("build", naming("11"), { at: day(10) });
      await loading.load("version", [wireVersion("11", wireProject("1"))], { at: day(12) });
      await resolveReferences(loading.sql);
      await loading.load("version", [wireVersion("12", wireProject("1"))], { at: day(14) });
      await loading.load("build", naming("12"), { at: day(16) });
      const seen: unknown[] = [];
      for (const n of [11, 13, 15, 17]) {
        const [row] = await loading.sql`select * from mirror.builds_as_of(${day(n)})`;
        seen.push([n, row?.version_uri, row?.version_id, row?.project_id]);
      }
      expect(seen).toEqual([
        [11, "/api/v1/version/11/", null, "1"],
        [13, "/api/v1/version/11/", "11", "1"],
        [15, "/api/v1/version/11/", "11", "1"],
        [17, "/api/v1/version/12/", "12", "1"],
      ]);
    },
  );
});

describe("a record with a thousand changes among many", () => {
  test.each([
    ["its history", "select * from mirror.project_history where id = '1'", 1001, 1000],
    // Its 500 later ones are found among its 1,000 and then read; Postgres 15 reads all of them both times.
    [
      "itself as of a moment",
      "select * from mirror.projects_as_of('2024-05-15T12:00:00Z') where id = '1'",
      1,
      2000,
    ],
  ])("%s is read off its own changes alone", async (_, query, rows, touched) => {
    await using loading = await setUpLoading();
    const { sql } = loading;
    const projects = Array.from({ length: 50 }, (_, i) => wireProject(String(i + 1)));
    await loading.load("project", projects, { at: "2024-01-01T00:00:00.000Z" });
    await sql`
      insert into mirror.changes (resource, record_id, run_id, observed_at, kind, before, after)
      select 'project', case when n <= 1000 then '1' else (n % 49 + 2)::text end, 1,
        timestamptz '2024-05-15T12:00:00Z' + (n - 500) * interval '1 minute', 'updated', jsonb_build_object('name', n), '{}'
      from generate_series(1, 20000) as n`;
    await sql`analyze mirror.changes, mirror.projects`;
    expect(await sql.unsafe(query)).toHaveLength(rows);
    const scans = await scansOf(sql, query, "changes");
    expect(scans.map(({ type }) => type)).not.toContain("Seq Scan");
    expect(scans.reduce((sum, scan) => sum + scan.rows, 0)).toBeLessThanOrEqual(touched);
  });
});

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: PlanNode[];
}

async function scansOf(sql: Sql, query: string, table: string): Promise<{ type: string; rows: number }[]> {
  const [row] = await sql.unsafe<{ "QUERY PLAN": { Plan: PlanNode }[] }[]>(
    `explain (analyze, format json) ${query}`,
  );
  const nodes: PlanNode[] = row?.["QUERY PLAN"].map(({ Plan }) => Plan) ?? [];
  for (const node of nodes) nodes.push(...(node.Plans ?? []));
  return nodes
    .filter((node) => node["Relation Name"] === table)
    .map((node) => ({
      type: node["Node Type"],
      rows: (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"],
    }));
}

loadingTest("the moment of a look back may be any, also one that is to come", async ({ loading }) => {
  await see(loading, 1);
  expect(await loading.sql`select id from mirror.projects_as_of('infinity')`).toEqual([{ id: "1" }]);
  expect(await loading.sql`select id from mirror.projects_as_of('-infinity')`).toEqual([]);
});

loadingTest("each view and function of the history says what it is", async ({ loading }) => {
  const silent = await loading.sql`
    select oid::regprocedure::text as name from pg_proc
    where pronamespace = 'mirror'::regnamespace and obj_description(oid, 'pg_proc') is null and proname <> 'read_local_time'
    union all
    select oid::regclass::text from pg_class
    where relnamespace = 'mirror'::regnamespace and relkind = 'v' and obj_description(oid, 'pg_class') is null`;
  expect(silent).toEqual([]);
});
