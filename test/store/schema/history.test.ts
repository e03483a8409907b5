import { describe, expect, test } from "vitest";
import { resolveReferences } from "../../../src/mirror/run/repair-references.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { loadingTest, setUpLoading } from "../../support/loading.ts";
import { wireBuild, wireProject, wireVersion } from "../../support/wire-records.ts";

const day = (n: number) => `2024-05-${String(n).padStart(2, "0")}T12:00:00.000Z`;

loadingTest(
  "as of a moment, a build's key is that of the URI it had then, and null while that record was not here",
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
  await loading.load("project", [wireProject("1")], { at: day(1) });
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
