import { index, integer, primaryKey, text } from "drizzle-orm/pg-core";
import { idText, moment } from "../../store/schema/columns.ts";
import { rollup } from "../../store/schema/schemas.ts";
import { KEY_OF_SERIES, list, type Parts, same, stored } from "../declare-stored.ts";

/** One row for each streak of failures of a series. */
export const streaks = rollup.table(
  "streaks",
  {
    project_id: idText().notNull(),
    version_id: idText().notNull(),
    type: text().notNull(),
    first_failed_build_id: idText().notNull(),
    last_failed_build_id: idText().notNull(),
    /** The success before the streak, and the success that ended it. Null where there is none. */
    last_succeeded_build_id: idText(),
    last_succeeded_at: moment(),
    recovered_build_id: idText(),
    recovered_at: moment(),
    recovered_after: moment(),
    recovered_before: moment(),
    failures: integer().notNull(),
    failed_at: moment(),
    failed_after: moment(),
    failed_before: moment(),
    error_class: text(),
    reference: text().notNull().default(""),
  },
  (table) => [
    primaryKey({ columns: [table.first_failed_build_id] }),
    index("streaks_series").on(
      table.project_id,
      table.version_id,
      table.type,
      table.reference,
      table.failed_at,
    ),
    // For what broke, and what was fixed, in some weeks.
    index("streaks_failed_at").on(table.failed_at),
    index("streaks_recovered_at").on(table.recovered_at),
  ],
);

/**
 * The end of a series, from the last success before the first change on: no streak goes over a success. Without
 * one the part is all of the series.
 */
const ENDS: Parts = {
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

export const STREAKS = stored(streaks, ENDS);
