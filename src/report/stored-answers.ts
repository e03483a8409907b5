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

/** What changed builds have a part in: their projects, days, weeks and fingerprints as they were and as they are. */
export interface Affected {
  projects: string[];
  days: string[];
  weeks: string[];
  fingerprints: string[];
}

/** A table whose content a view of the same name, with `_source` after it, computes. */
export interface StoredAnswer {
  /** Schema-qualified. */
  table: string;
  source: string;
  columns: readonly string[];
  key: readonly string[];
  /** By which of its columns, and which part of `Affected`, the rows are found that changed builds have a part in; without it, all. */
  scope: Readonly<Record<string, keyof Affected>>;
  /** Not computed after every round of the watch: it has to look at all builds. */
  isDear: boolean;
}

function stored(
  table: PgTable,
  { scope = {}, isDear = false }: Partial<Pick<StoredAnswer, "scope" | "isDear">> = {},
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
    isDear,
  };
}

/** The facts, from which all others but the first dimensions come. */
export const BUILDS = stored(rollupBuilds);

/** In an order in which each finds what it is computed from. */
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
  stored(hours, { isDear: true }),
  stored(resources, { isDear: true }),
];

/**
 * The statement that brings a stored answer up to its source, with the parts of `affected` as its parameters; null: all of it. Rows that are
 * right already are not touched, so that what nothing happened to costs no writing.
 */
export function mergeStatement(
  answer: StoredAnswer,
  affected: Affected | null,
): { text: string; params: string[][] } {
  const { table, source, columns, key } = answer;
  const scope = affected === null ? [] : Object.entries(answer.scope);
  const params = scope.map(([, part]) => affected?.[part] ?? []);
  const within = scope
    .map(
      ([column], place) =>
        `${column} = any ($${place + 1}::${/^(day|week)$/.test(column) ? "date" : "text"}[])`,
    )
    .join(" and ");
  const where = within === "" ? "" : ` where ${within}`;
  const text = `
    with fresh as materialized (select ${columns.join(", ")} from ${source}${where}),
    gone as (
      delete from ${table} as stored
      where ${within === "" ? "" : `${within} and `}not exists (select from fresh where ${sameKey(key)})
    )
    ${upsert(answer, `select ${list(columns, "fresh")} from fresh left join ${table} as stored on ${sameKey(key)} where ${isNew(answer)}`)}`;
  return { text, params };
}

/**
 * The statement that computes the facts of the builds in `touched` anew. Gives one row: how many changed, and what they had and have a part
 * in, null for the most where that is more than `limit` of them.
 */
export const MERGE_BUILDS = `
    with fresh as materialized (
      select ${list(BUILDS.columns)} from ${BUILDS.source} where build_id in (select build_id from touched)
    ), changed as materialized (
      select ${list(BUILDS.columns, "fresh")},
        stored.project_id as project_before, stored.triggered_on as day_before, stored.error_fingerprint as fingerprint_before
      from fresh left join ${BUILDS.table} as stored on stored.build_id = fresh.build_id
      where ${isNew(BUILDS)}
    ), written as (
      ${upsert(BUILDS, `select ${list(BUILDS.columns)} from changed`, ", updated_at = now()")}
    ), few as (
      select * from changed where (select count(*) from changed) <= $1
    )
    select (select count(*) from changed) as changed,
      (select coalesce(array_agg(distinct project_id), '{}') from (
        select project_id from few union select project_before from few) as part where project_id is not null) as projects,
      (select coalesce(array_agg(distinct day::text), '{}') from (
        select triggered_on from few union select day_before from few) as part (day) where day is not null) as days,
      (select coalesce(array_agg(distinct date_trunc('week', day::timestamp)::date::text), '{}') from (
        select triggered_on from few union select day_before from few) as part (day) where day is not null) as weeks,
      (select coalesce(array_agg(distinct fingerprint), '{}') from (
        select error_fingerprint from few union select fingerprint_before from few) as part (fingerprint) where fingerprint is not null) as fingerprints`;

function upsert({ table, columns, key }: StoredAnswer, rows: string, also = ""): string {
  const values = columns.filter((column) => !key.includes(column));
  return `insert into ${table} (${list(columns)}) ${rows}
    on conflict (${list(key)}) do update set ${values.map((column) => `${column} = excluded.${column}`).join(", ")}${also}`;
}

function isNew({ columns, key }: StoredAnswer): string {
  const values = columns.filter((column) => !key.includes(column));
  return `(stored.${key[0]} is null or (${list(values, "stored")}) is distinct from (${list(values, "fresh")}))`;
}

function sameKey(key: readonly string[]): string {
  return key.map((column) => `stored.${column} = fresh.${column}`).join(" and ");
}

function list(columns: readonly string[], of?: string): string {
  return columns.map((column) => (of ? `${of}.${column}` : column)).join(", ");
}
