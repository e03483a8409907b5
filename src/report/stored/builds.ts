import { sql } from "drizzle-orm";
import { boolean, date, doublePrecision, index, integer, text } from "drizzle-orm/pg-core";
import { bytea, idText, moment } from "../../store/schema/columns.ts";
import { rollup } from "../../store/schema/schemas.ts";
import { stored } from "../declare-stored.ts";

/** One row for each build: the content of `report.fact_builds`, without names. */
export const rollupBuilds = rollup.table(
  "builds",
  {
    build_id: idText().primaryKey(),
    project_id: idText().notNull(),
    version_id: idText().notNull(),
    type: text().notNull(),
    /**
     * What the build called a project or version that the mirror lacks; empty where it named no such one, and
     * `(none)` where it named neither of them at all, so that nothing says which series it belongs to.
     */
    reference: text().notNull().default(""),
    state: text(),
    outcome: text().notNull(),
    succeeded: integer(),
    failed: integer(),
    /** As far as is known, nothing that happens to the build can change a rate any more. */
    is_settled: boolean().notNull(),
    triggered_at: moment(),
    triggered_on: date({ mode: "string" }),
    is_time_ambiguous: boolean().notNull(),
    /** For a date beyond tomorrow, which counts as no date: the moment from which on it counts. */
    ahead_until: moment(),
    finished_after: moment(),
    finished_before: moment(),
    duration_s_min: doublePrecision(),
    duration_s_max: doublePrecision(),
    queued_s_min: doublePrecision(),
    queued_s_max: doublePrecision(),
    building_s_min: doublePrecision(),
    building_s_max: doublePrecision(),
    error_class: text(),
    error_fingerprint: text(),
    output_excerpt: text(),
    /** The error line without the places of one build, and 16 hex digits for it. */
    masked_line: text(),
    error_line_id: text(),
    first_seen_at: moment().notNull(),
    deleted_at: moment(),
    /** When the build was last seen open. Null for a build that is not open. */
    last_seen_at: moment(),
    /** Shows, with `deleted_at` and the two keys, whether the record has changed since. */
    record_hash: bytea().notNull(),
    updated_at: moment().notNull().default(sql`now()`),
  },
  (table) => [
    // For the builds of a range of days, and for the newest builds.
    index("builds_newest").on(
      table.triggered_on.desc().nullsLast(),
      table.triggered_at.desc().nullsLast(),
      table.build_id.desc(),
    ),
    index("builds_project_day").on(table.project_id, table.triggered_on),
    index("builds_unsettled").on(table.build_id).where(sql`not is_settled or last_seen_at is not null`),
    // In the order of a series. The migration adds the column `succeeded`, which drizzle cannot describe.
    index("builds_series").on(
      table.project_id,
      table.version_id,
      table.type,
      table.reference,
      table.triggered_at.nullsFirst(),
      sql`length(build_id)`,
      table.build_id,
    ),
    index("builds_fingerprint").on(table.error_fingerprint, table.project_id).where(sql`failed = 1`),
    // For what failed in some days, without a look at the table.
    index("builds_failed_line")
      .on(
        table.triggered_on,
        table.error_class,
        table.error_fingerprint,
        table.error_line_id,
        table.project_id,
      )
      .where(sql`failed = 1`),
    index("builds_ahead").on(table.ahead_until).where(sql`ahead_until is not null`),
  ],
);

/** The facts of builds. All other answers but projects and versions are computed from them. */
export const BUILDS = stored(rollupBuilds, null, ["triggered_at", "build_id"]);
