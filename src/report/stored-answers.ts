import { getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import { dimDates, dimProjects, dimVersions } from "../db/schema/report.ts";
import {
  backlog,
  days,
  errors,
  hours,
  projectDays,
  projectWeeks,
  projectWeekTimes,
  resources,
  rollupBuilds,
  series,
  streaks,
  typeWeekTimes,
  weeks,
} from "../db/schema/rollup.ts";

/** A table whose content comes from the view of the same name with `_source` after it. */
export interface StoredAnswer {
  /** Schema-qualified. */
  table: string;
  source: string;
  columns: readonly string[];
  key: readonly string[];
  /**
   * In which all rows are added: that of an index, or of time. Neighbours share pages, so few pages are in use at
   * once, and few hold the rows of a day.
   */
  order: readonly string[];
  /** How the rows that changes affect are found. Null: the answer has no parts. */
  parts: Parts | null;
}

/** A part is small, and is computed by itself: so it costs what it has, and not what the table has. */
export interface Parts {
  /** Queries the parts. */
  query: string;
  /** The columns that the rows of a part have in common with it. */
  scope: readonly string[];
  /** The rows of `part`, from the source or from a function. */
  rows: string;
  /** Which rows of the scope belong to `part`; `row` is the alias of a row. @default all */
  isWithin?: (row: string) => string;
}

function stored(
  table: PgTable,
  parts: Omit<Parts, "rows"> | Parts | null = null,
  order?: readonly string[],
): StoredAnswer {
  const { primaryKeys, schema } = getTableConfig(table);
  const columns = Object.values(getTableColumns(table));
  const key = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
  const name = getTableName(table);
  const source = `rollup.${name}_source`;
  const rows = `select * from ${source} as source where ${same(parts?.scope ?? [], "source", "part")}`;
  return {
    table: `${schema}.${name}`,
    source,
    columns: columns.map((column) => column.name).filter((column) => column !== "updated_at"),
    key: key.map((column) => column.name),
    order: order ?? key.map((column) => column.name),
    parts: parts && { rows, ...parts },
  };
}

/** Parts that changed builds affect, by their old facts and their new ones: see `changed-builds.ts`. */
function affected(...scope: string[]): Omit<Parts, "rows"> {
  const isKnown = scope.map((column) => `${column} is not null`).join(" and ");
  return { query: `select distinct ${scope.join(", ")} from affected where ${isKnown}`, scope };
}

/** Records that changed themselves. */
function touched(resource: string): Omit<Parts, "rows"> {
  const id = `${resource}_id`;
  return { query: `select id as ${id} from touched where resource = '${resource}'`, scope: [id] };
}

/**
 * A series with its counts brought forward: what is stored, less the old facts of its builds, plus the new ones. All else
 * follows from the ends of its index.
 */
const COUNTED_SERIES: Parts = {
  query: `
    select project_id, version_id, type, sum(builds)::int as builds, sum(finished)::int as finished, sum(succeeded)::int as succeeded
    from (
      select project_id, version_id, type, 1 as builds, (succeeded is not null)::int as finished, coalesce(succeeded, 0) as succeeded
      from changed where build_id is not null
      union all
      select old_project_id, old_version_id, old_type, -1, -(old_succeeded is not null)::int, -coalesce(old_succeeded, 0)
      from changed where not is_new
    ) as step
    group by project_id, version_id, type`,
  scope: ["project_id", "version_id", "type"],
  rows: `
    select part.project_id, part.version_id, part.type, total.builds, total.finished, total.succeeded,
      total.finished - total.succeeded as failed, total.first_triggered_at, total.last_triggered_at,
      recent.finished as recent_finished, recent.succeeded as recent_succeeded, recent.flips as recent_flips
    from (
      select part.builds + coalesce(sum(builds), 0)::int as builds, part.finished + coalesce(sum(finished), 0)::int as finished,
        part.succeeded + coalesce(sum(succeeded), 0)::int as succeeded,
        (select min(triggered_at) from rollup.builds as build where ${same(["project_id", "version_id", "type"], "build", "part")}) as first_triggered_at,
        (select max(triggered_at) from rollup.builds as build where ${same(["project_id", "version_id", "type"], "build", "part")}) as last_triggered_at
      from rollup.series as counted where ${same(["project_id", "version_id", "type"], "counted", "part")}
    ) as total
    cross join lateral rollup.recent_builds(part.project_id, part.version_id, part.type) as recent
    where total.builds > 0`,
};

/**
 * The end of a series, from the last success before the first change on: no streak goes over a success. Without
 * one the part is all of the series.
 */
const SERIES_ENDS: Parts = {
  query: `
    select series.project_id, series.version_id, series.type, success.triggered_at as since, success.build_id as success_id
    from (
      select project_id, version_id, type, min(coalesce(triggered_at, '-infinity')) as first_at
      from affected where project_id is not null group by project_id, version_id, type
    ) as series
    left join lateral (
      select triggered_at, build_id from rollup.builds as build
      where (build.project_id, build.version_id, build.type) = (series.project_id, series.version_id, series.type)
        and succeeded = 1 and triggered_at < first_at
      order by triggered_at desc nulls last, length(build_id) desc, build_id desc limit 1
    ) as success on true`,
  scope: ["project_id", "version_id", "type"],
  rows: `
    select part.project_id, part.version_id, part.type, streak.*
    from rollup.streaks_of(part.project_id, part.version_id, part.type, part.since) as streak`,
  // Failures of the same moment may come before the success.
  isWithin: (
    row,
  ) => `(part.since is null or (${row}.failed_at, length(${row}.first_failed_build_id), ${row}.first_failed_build_id)
    > (part.since, length(part.success_id), part.success_id))`,
};

/** The facts of builds. All other answers but projects and versions are computed from them. */
export const BUILDS = stored(rollupBuilds, null, ["triggered_at", "build_id"]);

/** Records and days by themselves. Each list, and each answer in it, comes after those that it is computed from. */
export const DIMENSIONS: readonly StoredAnswer[] = [
  stored(dimProjects, touched("project")),
  stored(dimVersions, touched("version")),
];

export const DATES = stored(dimDates);

export const SERIES = stored(series, COUNTED_SERIES);

export const ANSWERS: readonly StoredAnswer[] = [
  stored(projectDays, affected("project_id", "day"), ["day", "project_id"]),
  stored(days, affected("day")),
  stored(projectWeeks, affected("project_id", "week"), ["week", "project_id"]),
  stored(weeks, affected("week")),
  stored(projectWeekTimes, affected("project_id", "week"), ["week", "project_id"]),
  SERIES,
  stored(streaks, SERIES_ENDS),
  stored(errors, affected("error_fingerprint", "project_id")),
];

/** They read all builds, or all records, so they are not computed after every round of the watch. */
export const EXPENSIVE_ANSWERS: readonly StoredAnswer[] = [
  stored(hours),
  stored(resources),
  stored(typeWeekTimes),
  stored(backlog),
];

/** That two rows agree in these columns. */
export function same(columns: readonly string[], one: string, other: string): string {
  return columns.map((column) => `${one}.${column} = ${other}.${column}`).join(" and ");
}
