import { readdirSync, readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { DATASETS, supersetFiles } from "../../tools/superset-datasets.ts";
import { useReportReader } from "../support/report-reader.ts";

const FOLDER = new URL("../../deploy/superset/", import.meta.url);
const files = new Map(
  readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(new URL(path, FOLDER)).isFile())
    .map((path) => [path, readFileSync(new URL(path, FOLDER), "utf8")]),
);

// The keys that the import of Superset 6.1 takes, as far as they are used here.
const version = z.literal("1.0.0");
const no = z.literal(false);
const Database = z.strictObject({
  database_name: z.string(),
  sqlalchemy_uri: z.string(),
  cache_timeout: z.int(),
  expose_in_sqllab: z.boolean(),
  allow_run_async: no,
  allow_ctas: no,
  allow_cvas: no,
  allow_dml: no,
  allow_csv_upload: no,
  extra: z.strictObject({ allows_virtual_table_explore: z.boolean() }),
  uuid: z.uuid(),
  version,
});
const Dataset = z.strictObject({
  table_name: z.string(),
  schema: z.literal("report"),
  description: z.string(),
  main_dttm_col: z.string().nullable(),
  cache_timeout: z.int(),
  columns: z.array(
    z.strictObject({
      column_name: z.string(),
      type: z.string(),
      is_dttm: z.boolean(),
      groupby: z.literal(true),
      filterable: z.literal(true),
      description: z.string(),
    }),
  ),
  // All four, and no other.
  metrics: z.array(z.record(z.enum(["metric_name", "verbose_name", "expression", "d3format"]), z.string())),
  filter_select_enabled: z.boolean(),
  uuid: z.uuid(),
  database_uuid: z.uuid(),
  version,
});

const read = (path: string): unknown => parse(files.get(path) ?? "", { schema: "yaml-1.1" });
const database = Database.parse(read("databases/docmirror.yaml"));
const datasets = DATASETS.map((name) => Dataset.parse(read(`datasets/docmirror/${name}.yaml`)));

const reader = useReportReader();

describe("the datasets for Superset", () => {
  it("are what the dictionary and a migrated database say; `npm run docs:dictionary` writes them", async () => {
    expect(files).toEqual(await supersetFiles(reader.sql));
  });

  it("are of one database, without its password, and have an id each", () => {
    expect(read("metadata.yaml")).toEqual({ version: "1.0.0", type: "SqlaTable" });
    expect(database.sqlalchemy_uri).not.toMatch(/:\/\/[^@]*:/);
    expect(new Set(datasets.map(({ database_uuid: id }) => id))).toEqual(new Set([database.uuid]));
    expect(new Set([database, ...datasets].map(({ uuid }) => uuid)).size).toBe(datasets.length + 1);
  });

  it("count builds by the UTC day, which no zone of a session moves", () => {
    const mainOf = new Map(datasets.map((dataset) => [dataset.table_name, dataset.main_dttm_col]));
    expect(mainOf.get("fact_builds")).toBe("triggered_on");
    expect(mainOf.get("success_rate_daily")).toBe("day");
    for (const { main_dttm_col: main, columns } of datasets) {
      const times = columns.filter((column) => column.is_dttm).map((column) => column.column_name);
      expect([null, ...times]).toContain(main);
    }
  });

  it.each(datasets)("$table_name has metrics that Postgres computes for a reader", async (dataset) => {
    const metrics = dataset.metrics.map(({ metric_name: name, expression }) => `${expression} as ${name}`);
    const [row] = await reader.sql.unsafe(`select ${metrics.join(", ")} from report.${dataset.table_name}`);
    if (typeof row?.success_rate !== "number") return;
    expect(row?.success_rate).toBeGreaterThan(row?.success_rate_low);
    expect(row?.success_rate).toBeLessThan(row?.success_rate_high);
  });
});
