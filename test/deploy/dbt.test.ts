import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { DICTIONARY, type Relation } from "../../src/report/dictionary.ts";
import { COMPUTED, dbtModels, dbtSources } from "../../tools/dbt-sources.ts";
import { useReportReader } from "../support/report-reader.ts";

const FOLDER = new URL("../../deploy/dbt/", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, FOLDER), "utf8");

// The keys that dbt 1.10 documents, as far as they are used here.
const Name = z.string().regex(/^[a-z][a-z0-9_]*$/);
/** dbt renders descriptions as Jinja. */
const Words = z.string().refine((text) => !/\{[{%#]/.test(text));
const Column = z.strictObject({
  name: Name,
  description: Words,
  data_tests: z.array(z.string().regex(/^(unique|not_null|in_\w+)$/)).optional(),
});
/** A key of several columns. */
const Key = z.strictObject({ key: z.array(Name).min(2) });
const TableTests = z.tuple([z.literal("one_row_per_key")]);
const Threshold = z.strictObject({ count: z.int().positive(), period: z.enum(["minute", "hour", "day"]) });
const Sources = z.strictObject({
  version: z.literal(2),
  sources: z.tuple([
    z.strictObject({
      name: Name,
      description: Words,
      schema: z.string(),
      tables: z.array(
        z.strictObject({
          name: Name,
          description: Words,
          config: z
            .strictObject({
              freshness: z.strictObject({ warn_after: Threshold, error_after: Threshold }).optional(),
              loaded_at_query: z.string().optional(),
              meta: Key.optional(),
            })
            .optional(),
          data_tests: TableTests.optional(),
          columns: z.array(Column),
        }),
      ),
    }),
  ]),
});
const Properties = z.strictObject({
  version: z.literal(2),
  models: z.array(z.strictObject({ name: Name, description: Words, columns: z.array(Column) })),
  exposures: z.array(
    z.strictObject({
      name: Name,
      label: z.string(),
      type: z.enum(["dashboard", "notebook", "analysis", "ml", "application"]),
      maturity: z.enum(["high", "medium", "low"]),
      description: Words,
      owner: z.strictObject({ name: z.string() }),
      depends_on: z.array(z.string()),
    }),
  ),
});
const Report = z.strictObject({ docmirror_reports: z.strictObject({ report: z.object() }) });
const Project = z.strictObject({
  name: Name,
  version: z.string(),
  profile: Name,
  "model-paths": z.tuple([z.literal("models")]),
  "macro-paths": z.tuple([z.literal("macros")]),
  vars: z.strictObject({ export_folder: z.string() }),
  models: z.strictObject({ docmirror_reports: z.strictObject({ report: z.object(), files: z.object() }) }),
  sources: Report,
  exposures: Report,
  "require-dbt-version": z.string(),
});

const [source] = Sources.parse(parse(read("models/report/sources.yml"))).sources;
const { models, exposures } = Properties.parse(parse(read("models/report/properties.yml")));
const modelFiles = readdirSync(new URL("models/report/", FOLDER)).filter((file) => file.endsWith(".sql"));

/** What dbt makes of a model: each source becomes its relation. */
function compile(jinja: string): string {
  const sql = jinja.replace(/\{\{ source\('(\w+)', '(\w+)'\) \}\}/g, (_, name: string, table: string) => {
    expect(name).toBe(source.name);
    expect(source.tables.map(({ name }) => name)).toContain(table);
    return `"${source.schema}"."${table}"`;
  });
  expect(sql).not.toMatch(/\{[{%]/);
  return sql;
}

const reader = useReportReader();

describe("sources.yml", () => {
  it("is what the dictionary says; `npm run docs:dictionary` writes it", () => {
    expect(read("models/report/sources.yml")).toBe(dbtSources());
  });

  it("names only relations and columns that the reader can read", async () => {
    for (const { name, columns } of source.tables) {
      const list = columns.map(({ name }) => name).join(", ");
      await reader.sql.unsafe(`select ${list} from ${source.schema}.${name} limit 1`);
    }
  });

  it("promises of its keys and references only what holds", async () => {
    /** The rows that break a promise, as the macros of the package find them. */
    const breaking = (test: string, relation: string, column: string): string => {
      const of = `from ${source.schema}.${relation}`;
      if (test === "unique") return `select ${column} ${of} group by ${column} having count(*) > 1`;
      if (test === "not_null") return `select ${column} ${of} where ${column} is null`;
      const referred = test.slice("in_".length) as Relation;
      const [key] = DICTIONARY[referred].key;
      return `select ${column} ${of} where ${column} not in (select ${key} from ${source.schema}.${referred})`;
    };
    const promised = source.tables.flatMap(({ name, columns, config }) => [
      ...columns.flatMap((column) =>
        (column.data_tests ?? []).map((test) => breaking(test, name, column.name)),
      ),
      ...(config?.meta ? [breaking("unique", name, config.meta.key.join(", "))] : []),
    ]);
    for (const text of promised) expect([text, ...(await reader.sql.unsafe(text))]).toEqual([text]);
    expect(promised.length).toBeGreaterThan(60);
  });

  it("tests the key of every relation, and has a macro for every test", () => {
    for (const { name, columns, config, data_tests: tests } of source.tables) {
      const key = DICTIONARY[name as Relation].key;
      expect(config?.meta?.key ?? key).toEqual(key);
      expect(tests).toEqual(key.length > 1 ? ["one_row_per_key"] : undefined);
      const alone = columns.filter(({ data_tests: given }) => given?.includes("unique"));
      expect(alone.map((column) => column.name)).toEqual(key.length > 1 ? [] : key);
    }
    const used = source.tables.flatMap(({ columns }) => columns.flatMap((column) => column.data_tests ?? []));
    const macros = [...read("macros/in_relation.sql").matchAll(/\{% test (\w+)\(/g)].map(([, name]) => name);
    expect(new Set(macros)).toEqual(new Set(used.filter((name) => !/^(unique|not_null)$/.test(name))));
  });

  it("says how fresh builds, projects, versions and files are by what was last read of them", async () => {
    const tested = source.tables.flatMap(({ name, config: { freshness, loaded_at_query: query } = {} }) =>
      freshness && query ? [{ name, freshness, query }] : [],
    );
    expect(tested.map(({ name }) => name)).toEqual(["dim_projects", "dim_versions", "fact_builds", "files"]);
    for (const { freshness, query } of tested) {
      const hours = (count: number) => ({ count, period: "hour" });
      expect(freshness).toEqual({ warn_after: hours(30), error_after: hours(50) });
      // As dbt's own macro wraps it.
      const [row] = await reader.sql.unsafe(
        `with source_query as (${query})
         select (select * from source_query) as max_loaded_at, now() as snapshotted_at,
           extract(epoch from now() - (select * from source_query))::float8 as age_s`,
      );
      expect(row?.max_loaded_at).toMatch(/\+00$/);
      // The mirror of this test was read 20 minutes before it was made.
      expect(row?.age_s > 1100 && row?.age_s < 3600).toBe(true);
    }
  });
});

describe("the models over files", () => {
  it("are described as the dictionary says; `npm run docs:dictionary` writes it", () => {
    expect(read("models/files/properties.yml")).toBe(dbtModels());
  });

  it("are one file for each relation that is computed", () => {
    const files = readdirSync(new URL("models/files/", FOLDER)).filter((file) => file.endsWith(".sql"));
    expect(files).toEqual(COMPUTED.map((name) => `${name}.sql`).toSorted());
  });

  it("name an engine only in macros that both have", () => {
    for (const file of readdirSync(new URL("macros/", FOLDER))) {
      const macros = [...read(`macros/${file}`).matchAll(/macro (duckdb|spark)__(\w+)/g)];
      const of = (engine: string) => macros.filter(([, name]) => name === engine).map(([, , macro]) => macro);
      expect(of("duckdb")).toEqual(of("spark"));
    }
    const models = readdirSync(new URL("models/files/", FOLDER), { recursive: true, encoding: "utf8" });
    for (const file of models.filter((name) => name.endsWith(".sql"))) {
      expect(read(`models/files/${file}`)).not.toMatch(/duckdb|spark|target\./);
    }
  });
});

describe("every_project_day", () => {
  it("has every day from a project's first build on, with the counts of the days that have builds", async () => {
    const macro = /\{% macro \w+\([^)]*\) -%\}([\s\S]*)\{%- endmacro %\}/;
    const [, body = ""] = macro.exec(read("macros/every_project_day.sql")) ?? [];
    const text = body
      .replaceAll("{{ daily_by_project }}", "report.success_rate_daily_by_project")
      .replaceAll("{{ daily }}", "report.success_rate_daily");
    expect(text).not.toMatch(/\{[{%]/);
    const [days] = await reader.sql.unsafe(`
      with made as (${text}), own as (select * from report.success_rate_daily_by_project),
      first as (select project_id, min(day) as day from own group by project_id)
      select count(*) = (select sum((select count(*) from report.success_rate_daily where day >= first.day)) from first) as is_whole,
        count(*) = count(distinct (day, project_id)) as is_keyed,
        array[sum(builds), sum(finished), sum(succeeded), sum(failed)]
          = (select array[sum(builds), sum(finished), sum(succeeded), sum(failed)] from own) as is_same,
        count(*) > (select count(*) from own) as has_more,
        bool_and(is_covered = (builds is not null) or builds > 0) as is_null_where_uncovered
      from made`);
    const all = { is_whole: true, is_keyed: true, is_same: true, has_more: true };
    expect(days).toEqual({ ...all, is_null_where_uncovered: true });
  });
});

describe("the project", () => {
  it("has a file for each model that is described, and is one that dbt can read", () => {
    expect(modelFiles).toEqual(models.map(({ name }) => `${name}.sql`));
    expect(Project.parse(parse(read("dbt_project.yml")))["require-dbt-version"]).toBe(">=1.10.3");
  });

  it.each(models)("$name gives the columns that are described, and rows", async ({ name, columns }) => {
    const sql = compile(read(`models/report/${name}.sql`));
    // As dbt makes a view of it, which is all that a model needs.
    const rows = await reader.sql.unsafe(`select * from (${sql}) as model`);
    expect(rows.columns.map(({ name }) => name)).toEqual(columns.map(({ name }) => name));
    expect(rows.length).toBeGreaterThan(10);
    for (const key of columns.filter(({ data_tests: tests }) => tests !== undefined)) {
      expect(new Set(rows.map((row) => row[key.name])).size).toBe(rows.length);
    }
    const rates = rows.map(({ success_rate: rate }) => rate).filter((rate) => rate !== null);
    expect(rates.filter((rate) => !(rate >= 0 && rate <= 1))).toEqual([]);
  });

  it("has exposures that depend on sources that are there: those of the dashboard", () => {
    const dashboard = readFileSync(new URL("../grafana/dashboards/builds.json", FOLDER), "utf8");
    const read = [...dashboard.matchAll(/(?:from|join) report\.(\w+)/g)].map(([, relation = ""]) => relation);
    // What only fills the lists of its variables is no part of it.
    const shown = new Set(read.filter((name) => !/^success_rate_by_/.test(name)));
    const [exposure] = exposures;
    const sources = [...shown].map((relation) => `source('docmirror', '${relation}')`);
    expect(new Set(exposure?.depends_on)).toEqual(new Set(sources));
  });
});

describe("deploy/README.md", () => {
  it("names the versions of dbt that the tests run", () => {
    const pinned = (text: string) => new Set(text.match(/\bdbt-(?:core|postgres|duckdb|spark)==[\d.]*\d/g));
    const named = pinned(read("../README.md"));
    expect(named.size).toBe(4);
    const files = ["requirements.txt", "spark-requirements.txt"];
    expect(named).toEqual(pinned(files.map((file) => read(`../../test/support/${file}`)).join("")));
  });
});
