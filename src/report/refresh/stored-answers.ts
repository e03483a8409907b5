import { getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import { dimDates, dimProjects, dimVersions } from "../../store/schema/report.ts";
import {
  backlog,
  days,
  errors,
  hours,
  projectDays,
  projectWeeks,
  projectWeekTimes,
  recoveryTimes,
  resources,
  rollupBuilds,
  series,
  streaks,
  typeWeekTimes,
  weeks,
} from "../../store/schema/rollup.ts";

/** A table whose content comes from the view of the same name with `_source` after it. */
export interface StoredAnswer {
  /** Schema-qualified. */
  table: string;
  source: string;
  columns: readonly string[];
  /** The moments of changes, which the merge writes: `updated_at`, and `renamed_at` where it has names. */
  stamps: readonly string[];
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

const STAMPS = ["updated_at", "renamed_at"];

function stored(
  table: PgTable,
  parts: Omit<Parts, "rows"> | Parts | null = null,
  order?: readonly string[],
): StoredAnswer {
  const { primaryKeys, schema } = getTableConfig(table);
  const columns = Object.values(getTableColumns(table));
  const key = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
  const names = columns.map((column) => column.name);
  const name = getTableName(table);
  const source = `rollup.${name}_source`;
  const rows = `select * from ${source} as source where ${same(parts?.scope ?? [], "source", "part")}`;
  return {
    table: `${schema}.${name}`,
    source,
    columns: names.filter((column) => !STAMPS.includes(column)),
    stamps: names.filter((column) => STAMPS.includes(column)),
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

/** What a series is. */
export const KEY_OF_SERIES = ["project_id", "version_id", "type", "reference"];

/**
 * A series with its counts brought forward: what is stored, less the old facts of its builds, plus the new ones. All else
 * follows from the ends of its index.
 */
const COUNTED_SERIES: Parts = {
  query: `
    select project_id, version_id, type, reference, sum(builds)::int as builds, sum(finished)::int as finished, sum(succeeded)::int as succeeded
    from (
      select project_id, version_id, type, reference, 1 as builds, (succeeded is not null)::int as finished, coalesce(succeeded, 0) as succeeded
      from changed where not is_gone
      union all
      select old_project_id, old_version_id, old_type, old_reference, -1, -(old_succeeded is not null)::int, -coalesce(old_succeeded, 0)
      from changed where not is_new
    ) as step
    group by ${list(KEY_OF_SERIES)}`,
  scope: KEY_OF_SERIES,
  rows: `
    select ${list(KEY_OF_SERIES, "part")}, total.builds, total.finished, total.succeeded,
      total.finished - total.succeeded as failed, total.first_triggered_at, total.last_triggered_at,
      recent.finished as recent_finished, recent.succeeded as recent_succeeded, recent.flips as recent_flips
    from (
      select part.builds + coalesce(sum(builds), 0)::int as builds, part.finished + coalesce(sum(finished), 0)::int as finished,
        part.succeeded + coalesce(sum(succeeded), 0)::int as succeeded,
        (select min(triggered_at) from rollup.builds as build where ${same(KEY_OF_SERIES, "build", "part")}) as first_triggered_at,
        (select max(triggered_at) from rollup.builds as build where ${same(KEY_OF_SERIES, "build", "part")}) as last_triggered_at
      from rollup.series as counted where ${same(KEY_OF_SERIES, "counted", "part")}
    ) as total
    cross join lateral rollup.recent_builds(${list(KEY_OF_SERIES, "part")}) as recent
    where total.builds > 0`,
};

/**
 * The end of a series, from the last success before the first change on: no streak goes over a success. Without
 * one the part is all of the series.
 */
const SERIES_ENDS: Parts = {
  query: `
    select ${list(KEY_OF_SERIES, "series")}, success.triggered_at as since, success.build_id as success_id
    from (
      select ${list(KEY_OF_SERIES)}, min(coalesce(triggered_at, '-infinity')) as first_at
      from affected where project_id is not null group by ${list(KEY_OF_SERIES)}
    ) as series
    left join lateral (
      select triggered_at, build_id from rollup.builds as build
      where ${same(KEY_OF_SERIES, "build", "series")}
        and succeeded = 1 and triggered_at < first_at
      order by triggered_at desc nulls last, length(build_id) desc, build_id desc limit 1
    ) as success on true`,
  scope: KEY_OF_SERIES,
  rows: `
    select ${list(KEY_OF_SERIES, "part")}, streak.*
    from rollup.streaks_of(${list(KEY_OF_SERIES, "part")}, part.since) as streak`,
  // Failures of the same moment may come before the success.
  isWithin: (
    row,
  ) => `(part.since is null or (${row}.failed_at, length(${row}.first_failed_build_id), ${row}.first_failed_build_id)
    > (part.since, length(part.success_id), part.success_id))`,
};

/** The facts of builds. All other answers but projects and versions are computed from them. */
export const BUILDS = stored(rollupBuilds, null, ["triggered_at", "build_id"]);

/** Records and days by themselves. Each list, and each answer in it, comes after those that it is computed from. */
export const STORED_DIMENSIONS: readonly StoredAnswer[] = [
  stored(dimProjects, touched("project")),
  stored(dimVersions, touched("version")),
];

export const DATES = stored(dimDates);

export const STORED_SERIES = stored(series, COUNTED_SERIES);

export const ANSWERS: readonly StoredAnswer[] = [
  stored(projectDays, affected("project_id", "day"), ["day", "project_id"]),
  stored(days, affected("day")),
  stored(projectWeeks, affected("project_id", "week"), ["week", "project_id"]),
  stored(weeks, affected("week")),
  stored(projectWeekTimes, affected("project_id", "week"), ["week", "project_id"]),
  STORED_SERIES,
  stored(streaks, SERIES_ENDS),
  stored(errors, affected("error_fingerprint", "project_id")),
];

/** They read all builds, or all records, so they are not computed after every round of the watch. */
export const EXPENSIVE_ANSWERS: readonly StoredAnswer[] = [
  stored(hours),
  stored(resources),
  stored(typeWeekTimes),
  stored(backlog),
  stored(recoveryTimes),
];

export function list(columns: readonly string[], of?: string): string {
  return columns.map((column) => (of ? `${of}.${column}` : column)).join(", ");
}

/** That two rows agree in these columns. */
export function same(columns: readonly string[], one: string, other: string): string {
  return columns.map((column) => `${one}.${column} = ${other}.${column}`).join(" and ");
}
