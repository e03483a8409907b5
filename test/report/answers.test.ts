import { describe, expect, it } from "vitest";
import { type AnswerFilters, askFor, filtersOf } from "../../src/report/ask.ts";
import { columnsOf, RELATIONS, type Relation } from "../../src/report/dictionary.ts";
import { assertNamesKnown } from "../../src/report/known-names.ts";
import { type AnswerRow, readAnswer, withSnapshot } from "../../src/report/read-answer.ts";
import { createReportedMirror, HOSTILE_SLUGS } from "../support/reported-mirror.ts";
import { useDatabase } from "../support/use-database.ts";

const { sql } = useDatabase(createReportedMirror);

async function answer(
  relation: Relation,
  filters: AnswerFilters = {},
): Promise<Record<string, AnswerRow[number]>[]> {
  const question = askFor(relation, filters);
  return withSnapshot(sql, async (tx) => {
    const rows: AnswerRow[] = [];
    for await (const batch of readAnswer(tx, question)) rows.push(...batch);
    return rows.map((row) =>
      Object.fromEntries(question.columns.map((name, index) => [name, row[index] ?? null])),
    );
  });
}

const ALL: Required<AnswerFilters> = {
  project: "pip",
  version: "latest",
  type: "html",
  since: "2025-06-03",
  until: "2025-08-14T12:30Z",
  limit: 1000,
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
    const rows = await answer("fact_builds", {
      project: HOSTILE_SLUGS.markup,
      version: "stable",
      type: "pdf",
    });
    expect(rows.length).toBeGreaterThan(0);
    const kinds = new Set(rows.map((row) => `${row.project_slug} ${row.version_slug} ${row.type}`));
    expect([...kinds]).toEqual([`${HOSTILE_SLUGS.markup} stable pdf`]);
    expect(await answer("dim_versions", { project: "pip" })).toMatchObject([
      { version_slug: "latest" },
      { version_slug: "stable" },
    ]);
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
    expect(
      await times({ since: "2025-06-02 09:00:00+00", until: "2025-06-02T11:00:00.001+02:00" }),
    ).toHaveLength(1);
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
    [{ project: "pop" }, "the mirror has no project pop; did you mean pip?"],
    [{ project: "script" }, "no project script; did you mean <script>alert(1)</script>?"],
    [{ project: "nothing like it" }, /no project nothing like it$/],
    [{ project: "pip", version: "Latest" }, "no version Latest of the project pip; did you mean latest?"],
    [{ version: "stabel" }, "no version stabel; did you mean stable?"],
    [{ type: "hmtl" }, "no type hmtl; did you mean html?"],
  ])("of %j says which is nearest", async (filters, message) => {
    await expect(assertNamesKnown(sql, filters)).rejects.toMatchObject({
      name: "ConfigError",
      message:
        typeof message === "string" ? expect.stringContaining(message) : expect.stringMatching(message),
    });
  });
});
