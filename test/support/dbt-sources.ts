import { Document, type Pair, type Scalar, visit } from "yaml";
import { DICTIONARY, type Relation, type RelationEntry } from "../../src/db/report-dictionary.ts";

/** What dbt may test: each value stands once. */
const KEYS: Partial<Record<Relation, string>> = {
  dim_projects: "project_id",
  dim_versions: "version_id",
  dim_dates: "day",
  fact_builds: "build_id",
  success_rate_daily: "day",
  success_rate_weekly: "week",
  success_rate_monthly: "month",
  success_rate_by_project: "project_id",
  success_rate_by_type: "type",
  build_times_daily: "day",
  build_phases: "build_id",
  backlog: "hour",
  failing_projects: "project_id",
  recoveries: "first_failed_build_id",
  regressions: "project_id",
  broke_weekly: "week",
  broke_daily: "day",
  open_builds: "build_id",
  stuck_builds: "build_id",
  incident_hours: "hour",
  error_classes: "error_class",
  error_fingerprints: "error_fingerprint",
  success_rate_without_platform: "day",
  error_rules: "position",
  freshness: "resource",
  runs: "run_id",
};

/** Relations that are as fresh as a resource of the service. */
const RESOURCES: Partial<Record<Relation, string>> = {
  fact_builds: "build",
  dim_projects: "project",
  dim_versions: "version",
};

const HEADER = ` Schema report as sources of dbt, with what every relation and column means. Made from src/db/report-dictionary.ts by
 \`npm run docs:dictionary\`.

 No column of a relation shows its freshness, because on a quiet night no row changes. So dbt reads when the last
 good walk of the service's list began, or when the answers were computed, whichever is earlier. The mirror has
 everything that happened before. A resource that was never read is an error.`;

const MODELS_HEADER = ` The models over the files of an export, each with the columns of its relation in schema report. Made from
 src/db/report-dictionary.ts by \`npm run docs:dictionary\`.`;

/** `deploy/dbt/models/report/sources.yml`, from the dictionary. */
export function dbtSources(): string {
  const tables = Object.entries<RelationEntry>(DICTIONARY).map(([name, { answers, columns }]) => ({
    name,
    description: answers,
    ...freshnessOf(RESOURCES[name as Relation]),
    columns: describe(name as Relation, columns),
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
  "success_rate_weekly",
  "success_rate_daily_by_project",
  "success_rate_by_project",
  "success_rate_by_version",
  "success_rate_by_type",
  "failing_now",
  "recoveries",
  "instability",
  "error_classes",
  "error_fingerprints",
  "project_activity",
] as const satisfies readonly Relation[];

/** `deploy/dbt/models/files/properties.yml`, from the dictionary. */
export function dbtModels(): string {
  const models = COMPUTED.map((name) => ({
    name,
    description: DICTIONARY[name].answers,
    columns: describe(name, DICTIONARY[name].columns),
  }));
  return toYaml(MODELS_HEADER, { version: 2, models });
}

function describe(relation: Relation, columns: RelationEntry["columns"]) {
  return Object.entries(columns).map(([column, means]) => ({
    name: column,
    description: means,
    ...(KEYS[relation] === column && { data_tests: ["unique", "not_null"] }),
  }));
}

function toYaml(header: string, content: object): string {
  const document = new Document(content);
  document.commentBefore = header;
  visit(document, {
    Seq(_, node, path) {
      const pair = path.at(-1) as Pair<Scalar<string>> | undefined;
      if (pair?.key.value === "data_tests") node.flow = true;
    },
  });
  return document.toString({ lineWidth: 140 });
}

function freshnessOf(resource: string | undefined) {
  if (resource === undefined) return {};
  return {
    config: {
      freshness: { warn_after: { count: 26, period: "hour" }, error_after: { count: 50, period: "hour" } },
      loaded_at_query: `select least(current_through, refreshed_at) from report.freshness where resource = '${resource}' and current_through is not null`,
    },
  };
}
