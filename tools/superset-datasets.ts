import { createHash } from "node:crypto";
import { Document, type Pair, type Scalar, visit } from "yaml";
import { DICTIONARY, RELATIONS, type Relation } from "../src/report/dictionary.ts";
import type { Sql } from "../src/store/connection/sql.ts";

export const DATASETS = RELATIONS.filter((relation) => DICTIONARY[relation].isDrawn !== false);

/** In seconds. The answers change with each run; charts of one dashboard then read one cache. */
const CACHE_S = 600;
const VERSION = "1.0.0";
const HEADER = ` Made from src/report/dictionary.ts by \`npm run docs:dictionary\`.`;
const DATABASE_ID = idOf("database");

interface Metric {
  metric_name: string;
  verbose_name: string;
  expression: string;
  d3format?: string;
}

/** The files of `deploy/superset` by their paths: what Superset's import of datasets takes. */
export async function supersetFiles(sql: Sql): Promise<Map<string, string>> {
  const types = await sql<{ relation: Relation; name: string; type: string }[]>`
    select relation, column_name as name, upper(replace(data_type, '(6)', '')) as type from report.data_dictionary`;
  const files = new Map<string, object>([
    ["metadata.yaml", { version: VERSION, type: "SqlaTable" }],
    ["databases/docmirror.yaml", DATABASE],
  ]);
  for (const relation of DATASETS) {
    const typeOf = new Map(
      types.filter((row) => row.relation === relation).map(({ name, type }) => [name, type]),
    );
    files.set(`datasets/docmirror/${relation}.yaml`, datasetOf(relation, typeOf));
  }
  return new Map([...files].map(([path, content]) => [path, toYaml(content)]));
}

/** Without a password: that is typed into Superset. */
const DATABASE = {
  database_name: "docmirror",
  sqlalchemy_uri: "postgresql+psycopg2://bi@localhost:5432/docmirror",
  cache_timeout: CACHE_S,
  expose_in_sqllab: true,
  allow_run_async: false,
  allow_ctas: false,
  allow_cvas: false,
  allow_dml: false,
  allow_csv_upload: false,
  extra: { allows_virtual_table_explore: true },
  uuid: DATABASE_ID,
  version: VERSION,
};

function datasetOf(relation: Relation, types: ReadonlyMap<string, string>) {
  const { answers, columns } = DICTIONARY[relation];
  const { time } = DICTIONARY[relation];
  return {
    table_name: relation,
    schema: "report",
    description: answers,
    main_dttm_col: time?.day ?? time?.column ?? null,
    cache_timeout: CACHE_S,
    columns: Object.entries<string>(columns).map(([column, description]) => {
      const type = types.get(column) ?? null;
      const is_dttm = /^(DATE|TIMESTAMP)/.test(type ?? "");
      return { column_name: column, type, is_dttm, groupby: true, filterable: true, description };
    }),
    metrics: metricsOf(Object.keys(columns)),
    filter_select_enabled: true,
    uuid: idOf(relation),
    database_uuid: DATABASE_ID,
    version: VERSION,
  };
}

/** Rates of sums, so that they hold for any group: nobody should average a column of rates. */
function metricsOf(columns: readonly string[]): Metric[] {
  const rows: Metric = { metric_name: "count", verbose_name: "Rows", expression: "COUNT(*)", d3format: ",d" };
  if (!columns.includes("succeeded") || !columns.includes("failed")) return [rows];
  const isCounted = columns.includes("finished");
  const finished = isCounted ? "SUM(finished)" : "COUNT(succeeded)";
  const share = { d3format: ".1%" };
  const counts = `SUM(succeeded)::bigint, ${finished}::bigint`;
  return [
    isCounted && columns.includes("builds")
      ? { metric_name: "builds", verbose_name: "Builds", expression: "SUM(builds)", d3format: ",d" }
      : rows,
    { metric_name: "finished", verbose_name: "Finished", expression: finished, d3format: ",d" },
    { metric_name: "failed", verbose_name: "Failed", expression: "SUM(failed)", d3format: ",d" },
    {
      metric_name: "success_rate",
      verbose_name: "Success rate",
      expression: `SUM(succeeded)::float8 / NULLIF(${finished}, 0)`,
      ...share,
    },
    {
      metric_name: "success_rate_low",
      verbose_name: "Success rate, low end",
      expression: `report.wilson_low(${counts})`,
      ...share,
    },
    {
      metric_name: "success_rate_high",
      verbose_name: "Success rate, high end",
      expression: `report.wilson_high(${counts})`,
      ...share,
    },
  ];
}

/** The same at each import, which then replaces what it made before. */
function idOf(name: string): string {
  const hex = createHash("sha256").update(`docmirror superset ${name}`).digest("hex");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-5$3-8$4-$5");
}

function toYaml(content: object): string {
  // Superset reads the older YAML, in which more words than these are no texts.
  const document = new Document(content, { schema: "yaml-1.1" });
  document.commentBefore = HEADER;
  visit(document, {
    Map(_, node, path) {
      const list = path.at(-2) as Pair<Scalar<string>> | undefined;
      if (/^(columns|metrics)$/.test(list?.key?.value ?? "")) node.flow = true;
    },
  });
  return document.toString({ lineWidth: 0 });
}
