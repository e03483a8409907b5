import { getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import { dimDates, dimProjects, dimVersions } from "../db/schema/report.ts";
import {
  days,
  errors,
  hours,
  projectDays,
  projectWeeks,
  resources,
  rollupBuilds,
  series,
  streaks,
  weeks,
} from "../db/schema/rollup.ts";

/** What changed builds affect: their old and new projects, days, weeks and fingerprints. */
export interface Affected {
  projects: string[];
  days: string[];
  weeks: string[];
  fingerprints: string[];
}

/** A table whose content comes from the view of the same name with `_source` after it. */
export interface StoredAnswer {
  /** Schema-qualified. */
  table: string;
  source: string;
  columns: readonly string[];
  key: readonly string[];
  /**
   * The columns that find the affected rows, each with its part of `Affected`. All rows are affected where it
   * is empty.
   */
  scope: Readonly<Record<string, keyof Affected>>;
  /** It reads all builds, so it is not computed after every round of the watch. */
  isExpensive: boolean;
}

function stored(
  table: PgTable,
  { scope = {}, isExpensive = false }: Partial<Pick<StoredAnswer, "scope" | "isExpensive">> = {},
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
    isExpensive,
  };
}

/** The facts of builds. All other answers but projects and versions are computed from them. */
export const BUILDS = stored(rollupBuilds);

/** Each comes after those that it is computed from. */
export const STORED_ANSWERS: readonly StoredAnswer[] = [
  stored(dimProjects),
  stored(dimVersions),
  stored(dimDates),
  stored(projectDays, { scope: { project_id: "projects", day: "days" } }),
  stored(days, { scope: { day: "days" } }),
  stored(projectWeeks, { scope: { project_id: "projects", week: "weeks" } }),
  stored(weeks, { scope: { week: "weeks" } }),
  stored(series, { scope: { project_id: "projects" } }),
  stored(streaks, { scope: { project_id: "projects" } }),
  stored(errors, { scope: { error_fingerprint: "fingerprints" } }),
  stored(hours, { isExpensive: true }),
  stored(resources, { isExpensive: true }),
];

/**
 * The statement that brings a stored answer up to date with its source, for the parts of `affected`, which
 * are its parameters. Rows that are already right are not written.
 */
export function mergeStatement(
  answer: StoredAnswer,
  affected: Affected,
): { text: string; params: string[][] } {
  const scope = Object.entries(answer.scope);
  const within = scope
    .map(
      ([column], place) =>
        `${column} = any ($${place + 1}::${/^(day|week)$/.test(column) ? "date" : "text"}[])`,
    )
    .join(" and ");
  const fresh = `fresh as materialized (select ${list(answer.columns)} from ${answer.source} where ${within || "true"})`;
  return { text: merge(answer, within || "true", fresh), params: scope.map(([, part]) => affected[part]) };
}

/**
 * The same for all rows. A temporary table gets the rows of the source first: Postgres uses several processes
 * to create a table from a query, but not to write to an existing table.
 */
export function mergeAllStatements(answer: StoredAnswer): string[] {
  return [
    `create temporary table fresh on commit drop as ${selectAll(answer)}`,
    "analyze fresh",
    // The planner still thinks this table is empty and would pick a nested loop.
    "set local enable_nestloop = off",
    merge(answer, "true"),
    "set local enable_nestloop = on",
    "drop table fresh",
    `analyze ${answer.table}`,
  ];
}

/** The same for an empty table: there is nothing to compare with. */
export function addAllStatements(answer: StoredAnswer): string[] {
  const { table, columns } = answer;
  return [`insert into ${table} (${list(columns)}) ${selectAll(answer)}`, `analyze ${table}`];
}

/** In the order of an index, or of time, neighbours share pages, so few pages are in use at once. */
function selectAll(answer: StoredAnswer): string {
  const [source, order] =
    answer === BUILDS
      ? ["rollup.all_builds_source", ["triggered_at", "build_id"]]
      : [answer.source, answer.key];
  return `select ${list(answer.columns)} from ${source} order by ${list(order)}`;
}

function merge(answer: StoredAnswer, within: string, fresh?: string): string {
  const { table, columns, key } = answer;
  return `
    with ${fresh ? `${fresh}, ` : ""}gone as (
      delete from ${table} as stored where ${within} and not exists (select from fresh where ${sameKey(key)})
    ), moved as (
      update ${table} as stored set ${assignments(answer)} from fresh where ${sameKey(key)} and ${isOther(answer)}
    )
    insert into ${table} (${list(columns)})
    select ${list(columns)} from fresh where not exists (select from ${table} as stored where ${sameKey(key)})`;
}

/**
 * Computes the facts of the builds in `touched` again. Returns one row: how many changed, and what they
 * affect, which is empty where more than $1 changed.
 */
export const MERGE_TOUCHED_BUILDS = `
    with fresh as materialized (
      select ${list(BUILDS.columns)} from ${BUILDS.source} where build_id in (select build_id from touched)
    ), changed as materialized (
      select ${list(BUILDS.columns, "fresh")}, stored.build_id is null as is_missing,
        stored.project_id as project_before, stored.triggered_on as day_before, stored.error_fingerprint as fingerprint_before
      from fresh left join ${BUILDS.table} as stored on stored.build_id = fresh.build_id
      where stored.build_id is null or ${isOther(BUILDS)}
    ), moved as (
      update ${BUILDS.table} as stored set ${assignments(BUILDS)}
      from changed as fresh where not is_missing and stored.build_id = fresh.build_id
    ), added as (
      insert into ${BUILDS.table} (${list(BUILDS.columns)}) select ${list(BUILDS.columns)} from changed where is_missing
    ), few as (
      select * from changed where (select count(*) from changed) <= $1
    )
    select (select count(*) from changed) as changed,
      (select coalesce(array_agg(distinct part), '{}') from (
        select project_id from few union select project_before from few) as either (part) where part is not null) as projects,
      (select coalesce(array_agg(distinct part::text), '{}') from (
        select triggered_on from few union select day_before from few) as either (part) where part is not null) as days,
      (select coalesce(array_agg(distinct date_trunc('week', part::timestamp)::date::text), '{}') from (
        select triggered_on from few union select day_before from few) as either (part) where part is not null) as weeks,
      (select coalesce(array_agg(distinct part), '{}') from (
        select error_fingerprint from few union select fingerprint_before from few) as either (part) where part is not null) as fingerprints`;

function valuesOf({ columns, key }: StoredAnswer): string[] {
  return columns.filter((column) => !key.includes(column));
}

function assignments(answer: StoredAnswer): string {
  const set = valuesOf(answer).map((column) => `${column} = fresh.${column}`);
  return [...set, ...(answer.table === BUILDS.table ? ["updated_at = now()"] : [])].join(", ");
}

function isOther(answer: StoredAnswer): string {
  const values = valuesOf(answer);
  return `(${list(values, "stored")}) is distinct from (${list(values, "fresh")})`;
}

function sameKey(key: readonly string[]): string {
  return key.map((column) => `stored.${column} = fresh.${column}`).join(" and ");
}

function list(columns: readonly string[], of?: string): string {
  return columns.map((column) => (of ? `${of}.${column}` : column)).join(", ");
}
