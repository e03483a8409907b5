import { describe, expect, it } from "vitest";
import { type AnswerFilters, askFor, filtersOf } from "../../src/report/ask.ts";
import { columnsOf, RELATIONS, type Relation } from "../../src/report/dictionary.ts";
import { assertNamesKnown } from "../../src/report/known-names.ts";
import { type AnswerRow, readAnswer, withSnapshot } from "../../src/report/read-answer.ts";
import { createReportedMirror, HOSTILE_SLUGS } from "../support/reported-mirror.ts";
import { useDatabase } from "../support/use-database.ts";

const { sql } = useDatabase(createReportedMirror);

async function answer(relation: Relation, filters: AnswerFilters = {}) {
  const question = askFor(relation, filters);
  return withSnapshot(sql, async (tx) => {
    const rows: AnswerRow[] = [];
    for await (const batch of readAnswer(tx, question)) rows.push(...batch);
    const named = (row: AnswerRow) => question.columns.map((name, index) => [name, row[index] ?? null]);
    return rows.map((row): Record<string, AnswerRow[number]> => Object.fromEntries(named(row)));
  });
}

const ALL: Required<AnswerFilters> = {
  ...{ project: "pip", version: "latest", type: "html" },
  ...{ since: "2025-06-03", until: "2025-08-14T12:30Z", limit: 1000 },
};

describe("the questions", () => {
  it("are understood by Postgres, whatever they are narrowed by, and as they are shown to people", async () => {
    for (const relation of RELATIONS) {
      const filters = Object.fromEntries(filtersOf(relation).map((name) => [name, ALL[name]]));
      const rows = await answer(relation, filters);
      const { readable } = askFor(relation, filters);
      expect(await sql.unsafe(readable), relation).toHaveLength(rows.length);
    }
  });

  it("ask for all columns of the relation, in its own order", async () => {
    const rows = await sql<{ relation: Relation; columns: string }[]>`
      select relation, string_agg(column_name, ' ' order by position) as columns from report.data_dictionary group by 1`;
    expect(rows.map(({ relation }) => relation).toSorted()).toEqual(RELATIONS.toSorted());
    for (const { relation, columns } of rows) expect(columnsOf(relation)).toEqual(columns.split(" "));
  });

  it("give the rows of a project, a version and a type", async () => {
    const filters = { project: HOSTILE_SLUGS.markup, version: "stable", type: "pdf" };
    const rows = await answer("fact_builds", filters);
    expect(rows.length).toBeGreaterThan(0);
    const kinds = new Set(rows.map((row) => `${row.project_slug} ${row.version_slug} ${row.type}`));
    expect([...kinds]).toEqual([`${HOSTILE_SLUGS.markup} stable pdf`]);
    const versions = await answer("dim_versions", { project: "pip" });
    expect(versions.map(({ version_slug }) => version_slug)).toEqual(["latest", "stable"]);
  });

  it("give builds by day as by moment, until a day with all of it, until a moment without it", async () => {
    const times = async (filters: AnswerFilters) =>
      (await answer("fact_builds", filters)).map((row) => row.triggered_at);
    expect(await times({ since: "2025-06-02", until: "2025-06-02" })).toEqual([
      "2025-06-02T09:00:00.002002Z",
      "2025-06-02T09:00:00.001001Z",
      "2025-06-02T09:00:00Z",
    ]);
    const exactly = { since: "2025-06-02T09:00:00.001Z", until: "2025-06-02T09:00:00.002Z" };
    expect(await times(exactly)).toEqual(["2025-06-02T09:00:00.001001Z"]);
    const offset = { since: "2025-06-02 09:00:00+00", until: "2025-06-02T11:00:00.001+02:00" };
    expect(await times(offset)).toHaveLength(1);
  });

  it("have the newest first where things happen, the worst first where there is something to repair", async () => {
    const [newest, ...days] = await answer("success_rate_daily", { until: "2025-06-03" });
    expect([newest, ...days].map((row) => row?.day)).toEqual(["2025-06-03", "2025-06-02", "2025-06-01"]);
    const projects = await answer("success_rate_by_project");
    expect(projects[0]).toMatchObject({ project_slug: "pip", finished: 51, succeeded: 1 });
    expect((await answer("fact_builds")).at(-1)).toMatchObject({ build_id: "202", triggered_at: null });
  });
});

describe("assertNamesKnown", () => {
  it("lets pass what there is, builds without a version too", async () => {
    await assertNamesKnown(sql, {});
    await assertNamesKnown(sql, { project: HOSTILE_SLUGS.markup, version: "stable", type: "(none)" });
    await assertNamesKnown(sql, { project: "pip", version: "(unknown)" });
    await assertNamesKnown(sql, { project: "(unknown)", type: "html" });
  });

  it.each([
    [{ project: "pop" }, "project pop; did you mean pip?", "dim_projects` lists all projects"],
    [{ project: "script" }, `project script; did you mean ${HOSTILE_SLUGS.markup}?`, "dim_projects"],
    [{ project: "nothing like it" }, "project nothing like it", "dim_projects"],
    [
      { project: "pip", version: "Latest" },
      "version Latest of the project pip; did you mean latest?",
      "dim_versions` lists all versions",
    ],
    [{ version: "stabel" }, "version stabel; did you mean stable?", "dim_versions"],
    [{ type: "hmtl" }, "type hmtl; did you mean html?", "success_rate_by_type` lists all types"],
  ])("of %j says which is nearest", async (filters, message, hint) => {
    const refusal = { message: `the mirror has no ${message}`, hint: expect.stringContaining(hint) };
    await expect(assertNamesKnown(sql, filters)).rejects.toMatchObject({ name: "ConfigError", ...refusal });
  });
});
