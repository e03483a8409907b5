import { getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import { dimDates, dimProjects, dimVersions } from "../db/schema/report.ts";
import {
  days,
  hours,
  projectDays,
  projectErrors,
  projectWeeks,
  resources,
  rollupBuilds,
  series,
  streaks,
  weeks,
} from "../db/schema/rollup.ts";

/** A table whose content comes from the view of the same name with `_source` after it. */
export interface StoredAnswer {
  /** Schema-qualified. */
  table: string;
  source: string;
  columns: readonly string[];
  key: readonly string[];
  /** A query for the parts that changes affect. Null: the answer has no parts. */
  parts: string | null;
  /** The columns of that query, which find the rows of a part. */
  scope: readonly string[];
}

function stored(
  table: PgTable,
  { scope = [], parts = affected(scope) }: Partial<Pick<StoredAnswer, "scope" | "parts">> = {},
): StoredAnswer {
  const { primaryKeys, schema } = getTableConfig(table);
  const columns = Object.values(getTableColumns(table));
  const key = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
  const name = getTableName(table);
  return {
    table: `${schema}.${name}`,
    source: `rollup.${name}_source`,
    columns: columns.map((column) => column.name).filter((column) => column !== "updated_at"),
    key: key.map((column) => column.name),
    scope,
    parts,
  };
}

/** Parts that changed builds affect, by their old facts and their new ones: see `changed-builds.ts`. */
function affected(scope: readonly string[]): string | null {
  if (scope.length === 0) return null;
  const isKnown = scope.map((column) => `${column} is not null`).join(" and ");
  return `select distinct ${scope.join(", ")} from affected where ${isKnown}`;
}

/** Records that changed themselves. */
function touched(resource: string): string {
  return `select id as ${resource}_id from touched where resource = '${resource}'`;
}

/** The facts of builds. All other answers but projects and versions are computed from them. */
export const BUILDS = stored(rollupBuilds);

/** Records and days by themselves. Each list, and each answer in it, comes after those that it is computed from. */
export const DIMENSIONS: readonly StoredAnswer[] = [
  stored(dimProjects, { scope: ["project_id"], parts: touched("project") }),
  stored(dimVersions, { scope: ["version_id"], parts: touched("version") }),
];

export const DATES = stored(dimDates);

export const ANSWERS: readonly StoredAnswer[] = [
  stored(projectDays, { scope: ["project_id", "day"] }),
  stored(days, { scope: ["day"] }),
  stored(projectWeeks, { scope: ["project_id", "week"] }),
  stored(weeks, { scope: ["week"] }),
  stored(series, { scope: ["project_id", "version_id", "type"] }),
  stored(streaks, { scope: ["project_id", "version_id", "type"] }),
  stored(projectErrors, { scope: ["error_fingerprint", "project_id"] }),
];

/** They read all builds, or all records, so they are not computed after every round of the watch. */
export const EXPENSIVE_ANSWERS: readonly StoredAnswer[] = [stored(hours), stored(resources)];
