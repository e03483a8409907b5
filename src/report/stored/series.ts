import { integer, primaryKey, text } from "drizzle-orm/pg-core";
import { idText, moment } from "../../store/schema/columns.ts";
import { rollup } from "../../store/schema/schemas.ts";
import { KEY_OF_SERIES, list, type Parts, same, stored } from "../declare-stored.ts";
import { counts } from "./shared-columns.ts";

/** One row for each series: project, version, type, and what names an unknown one. */
export const series = rollup.table(
  "series",
  {
    project_id: idText().notNull(),
    version_id: idText().notNull(),
    type: text().notNull(),
    ...counts(),
    first_triggered_at: moment(),
    last_triggered_at: moment(),
    /** Counts over its last 20 finished builds. */
    recent_finished: integer().notNull(),
    recent_succeeded: integer().notNull(),
    recent_flips: integer().notNull(),
    reference: text().notNull().default(""),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.version_id, table.type, table.reference] })],
);

/**
 * A series with its counts brought forward: what is stored, less the old facts of its builds, plus the new ones. All else
 * follows from the ends of its index.
 */
const COUNTED: Parts = {
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

export const SERIES = stored(series, COUNTED);
