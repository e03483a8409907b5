import { Document, type Pair, type Scalar, visit } from "yaml";
import type { DeclaredRelation } from "../src/report/declare-relation.ts";
import { DICTIONARY, type Relation } from "../src/report/dictionary.ts";
import type { RelationEntry } from "../src/store/migrate/report-comments.ts";

/** The relations that others refer to, each by the names of the columns that do. */
const REFERRED: Partial<Record<Relation, RegExp>> = {
  dim_projects: /^project_id$/,
  dim_versions: /^version_id$/,
  dim_dates: /^(day|triggered_on)$/,
  fact_builds: /^(\w+_)?build_id$/,
  runs: /^(\w+_)?run_id$/,
};

const HEADER = ` Schema report as sources of dbt, with what every relation and column means. Made from src/report/dictionary.ts by
 \`npm run docs:dictionary\`.

 No column of a relation shows its freshness, because on a quiet night no row changes. So dbt reads when the last
 good walk of the service's list began, or when the answers were computed, whichever is earlier. The mirror has
 everything that happened before. A resource that was never read is an error.`;

const MODELS_HEADER = ` The models over the files of an export, each with the columns of its relation in schema report. Made from
 src/report/dictionary.ts by \`npm run docs:dictionary\`.`;

/** `deploy/dbt/models/report/sources.yml`, from the dictionary. */
export function dbtSources(): string {
  const tables = Object.entries<RelationEntry>(DICTIONARY).map(([name, { answers, columns }]) => ({
    name,
    description: answers,
    ...testsOf(name as Relation, true),
    columns: describe(name as Relation, columns, true),
  }));
  const source = {
    name: "docmirror",
    description: "How builds of documentation go, from a mirror of the service that builds it.",
    schema: "report",
    tables,
  };
  return toYaml(HEADER, { version: 2, sources: [source] });
}

/** The relations that the package also computes from the files of an export. */
export const COMPUTED = [
  "success_rate_daily",
  "success_rate_daily_by_project",
  "success_rate_by_project",
  "success_rate_by_type",
  "failing_now",
  "recoveries",
  "instability",
  "error_classes",
  "error_fingerprints",
] as const satisfies readonly Relation[];

/** Masks need a function that the engines lack. */
const NOT_COMPUTED = ["mask"];

/** The columns of a computed relation. */
export const computedColumnsOf = (name: (typeof COMPUTED)[number]): string[] =>
  Object.keys(DICTIONARY[name].columns).filter((column) => !NOT_COMPUTED.includes(column));

/** `deploy/dbt/models/files/properties.yml`, from the dictionary. */
export function dbtModels(): string {
  const models = COMPUTED.map((name) => ({
    name,
    description: DICTIONARY[name].answers,
    ...testsOf(name, false),
    columns: describe(name, DICTIONARY[name].columns, false).filter((column) =>
      computedColumnsOf(name).includes(column.name),
    ),
  }));
  return toYaml(MODELS_HEADER, { version: 2, models });
}

/** Of a whole relation: how fresh it is to be, and its key where that is several columns. */
function testsOf(relation: Relation, isSource: boolean) {
  const { key: whole, resource }: DeclaredRelation = DICTIONARY[relation];
  const key = whole.length > 1 ? whole : undefined;
  const config = { ...(isSource && freshnessOf(resource)), ...(key && { meta: { key } }) };
  return {
    ...(Object.keys(config).length > 0 && { config }),
    ...(key && { data_tests: ["one_row_per_key"] }),
  };
}

/** The columns, with what is tested of each. `isSource`: the relations that they refer to are there too. */
function describe(relation: Relation, columns: RelationEntry["columns"], isSource: boolean) {
  const { key, nullable = [] }: DeclaredRelation = DICTIONARY[relation];
  return Object.entries(columns).map(([column, means]) => {
    const isKey = key.includes(column);
    const tests = [
      ...(isKey && key.length === 1 ? ["unique"] : []),
      ...(isKey && !nullable.includes(column) ? ["not_null"] : []),
      ...(isSource ? referencesOf(relation, column) : []),
    ];
    return {
      name: column,
      description: means,
      ...(tests.length > 0 && { data_tests: tests }),
    };
  });
}

const referencesOf = (relation: Relation, column: string): string[] =>
  Object.entries(REFERRED)
    .filter(([referred, names]) => referred !== relation && names.test(column))
    .map(([referred]) => `in_${referred}`);

function toYaml(header: string, content: object): string {
  const document = new Document(content);
  document.commentBefore = header;
  visit(document, {
    Seq(_, node, path) {
      const pair = path.at(-1) as Pair<Scalar<string>> | undefined;
      if (/^(data_tests|key)$/.test(pair?.key.value ?? "")) node.flow = true;
    },
  });
  return document.toString({ lineWidth: 140 });
}

function freshnessOf(resource: string | undefined) {
  if (resource === undefined) return {};
  return {
    freshness: { warn_after: { count: 30, period: "hour" }, error_after: { count: 50, period: "hour" } },
    loaded_at_query: `select least(current_through, refreshed_at) from report.freshness where resource = '${resource}' and current_through is not null`,
  };
}
