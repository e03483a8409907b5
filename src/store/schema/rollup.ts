import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  date,
  doublePrecision,
  index,
  integer,
  primaryKey,
  text,
  uuid,
} from "drizzle-orm/pg-core";
import { bytea, idText, moment } from "./columns.ts";
import { rollup } from "./schemas.ts";

/**
 * Answers that are too expensive to compute for each reader. Every table except `state` has a view of the
 * same name plus `_source`, which computes its content (`src/report/sql`). `src/report/refresh/refresh.ts` brings the
 * table up to date. The columns are those of schema `report` (`src/report/dictionary.ts`), whose views
 * show them.
 */
export const state = rollup.table(
  "state",
  {
    /** The table has one row. */
    id: integer().primaryKey().default(1),
    /** The settings with which the answers were computed. */
    source_timezone: text().notNull(),
    stuck_after_s: doublePrecision().notNull(),
    /**
     * One hash of the definitions that computed the answers. When it changes, everything is computed again.
     */
    definition: text().notNull(),
    /** The answers include everything that the runs up to this one saw. */
    run_id: bigint({ mode: "number" }).notNull(),
    /**
     * Everything that happened upstream before this moment has been read. Null until a whole walk of the
     * builds has ended.
     */
    covered_through: moment(),
    refreshed_at: moment().notNull(),
    /** When the expensive answers were last computed, and how long that took. */
    dear_refreshed_at: moment(),
    dear_took_s: doublePrecision().notNull().default(0),
    /** The sum of `sync.revisions` then: while it is the same, no record has changed. */
    dear_revision: bigint({ mode: "number" }).notNull().default(-1),
    /** The moment from which on a build that is dated beyond tomorrow counts: the first one. Null without any. */
    next_dated_at: moment(),
    /** How many builds are dated beyond tomorrow. */
    builds_dated_ahead: integer().notNull().default(0),
    /** When every fact was last compared with its build, or computed. */
    checked_at: moment(),
    /** Facts that the last comparison found wrong, and computed again. */
    facts_repaired: bigint({ mode: "number" }).notNull().default(0),
  },
  (table) => [check("state_has_one_row", sql`${table.id} = 1`)],
);

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

/** One row for each month that ever had a build. Triggers of the migration on the facts keep it. */
export const factMonths = rollup.table("fact_months", {
  /** As in `report.dim_dates`; empty for builds without a date. */
  month: text().primaryKey(),
  /** Drawn anew whenever a fact of the month comes, goes or changes, so no copy or backup has it twice. */
  revision: uuid().notNull(),
});

const counts = () => ({
  builds: integer().notNull(),
  finished: integer().notNull(),
  succeeded: integer().notNull(),
  failed: integer().notNull(),
});

/** The bounds of percentiles, in seconds. */
const percentiles = () => ({
  p50_s_min: doublePrecision(),
  p50_s_max: doublePrecision(),
  p90_s_min: doublePrecision(),
  p90_s_max: doublePrecision(),
  p95_s_min: doublePrecision(),
  p95_s_max: doublePrecision(),
});

export const projectDays = rollup.table(
  "project_days",
  {
    project_id: idText().notNull(),
    day: date({ mode: "string" }).notNull(),
    ...counts(),
    unsettled: integer().notNull(),
    stuck: integer().notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.project_id, table.day] }),
    index("project_days_day").on(table.day),
  ],
);

export const days = rollup.table("days", {
  day: date({ mode: "string" }).primaryKey(),
  ...counts(),
  unsettled: integer().notNull(),
  projects: integer().notNull(),
  success_rate_project_mean: doublePrecision(),
  /** Builds that finished, whatever their result. The percentiles are those of their times. */
  measured: integer().notNull(),
  ...percentiles(),
  stuck: integer().notNull().default(0),
});

export const weeks = rollup.table("weeks", {
  week: date({ mode: "string" }).primaryKey(),
  ...counts(),
  unsettled: integer().notNull(),
  projects: integer().notNull(),
  success_rate_project_mean: doublePrecision(),
  stuck: integer().notNull().default(0),
});

export const projectWeeks = rollup.table(
  "project_weeks",
  {
    project_id: idText().notNull(),
    week: date({ mode: "string" }).notNull(),
    ...counts(),
    active_days: integer().notNull(),
    failure_days: integer().notNull(),
    unsettled: integer().notNull(),
    stuck: integer().notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.project_id, table.week] }),
    index("project_weeks_week").on(table.week),
  ],
);

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

/** The failures of a project that look alike. What all projects have of them is a cheap sum. */
export const errors = rollup.table(
  "errors",
  {
    error_class: text().notNull(),
    error_fingerprint: text().notNull(),
    failures: integer().notNull(),
    /** 1; 0 for builds without a project. */
    projects: integer().notNull(),
    first_triggered_at: moment(),
    last_triggered_at: moment(),
    last_build_id: idText().notNull(),
    project_id: idText().notNull(),
    error_line_id: text().notNull().default(""),
    masked_line: text(),
  },
  (table) => [
    primaryKey({
      name: "errors_key",
      columns: [table.error_fingerprint, table.project_id, table.error_class, table.error_line_id],
    }),
  ],
);

/** Hours in which eight projects or more had a build that finished. */
export const hours = rollup.table("hours", {
  hour: moment().primaryKey(),
  projects: integer().notNull(),
  projects_failing: integer().notNull(),
  projects_expected: doublePrecision().notNull(),
  probability: doublePrecision().notNull(),
  builds: integer().notNull(),
  failed: integer().notNull(),
});

/** How long the finished builds of a project took, week by week. */
export const projectWeekTimes = rollup.table(
  "project_week_times",
  {
    project_id: idText().notNull(),
    week: date({ mode: "string" }).notNull(),
    measured: integer().notNull(),
    ...percentiles(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.week] })],
);

/** How long the finished builds of a type took, week by week. */
export const typeWeekTimes = rollup.table(
  "type_week_times",
  {
    type: text().notNull(),
    week: date({ mode: "string" }).notNull(),
    measured: integer().notNull(),
    ...percentiles(),
  },
  (table) => [primaryKey({ columns: [table.type, table.week] })],
);

/** How many builds were open at the start of an hour; hours without any have no row. */
export const backlog = rollup.table("backlog", {
  hour: moment().primaryKey(),
  open_min: integer().notNull(),
  open_max: integer().notNull(),
});

/** How long streaks of failures last: for each choice of project, type and month, and for all of them. */
export const recoveryTimes = rollup.table(
  "recovery_times",
  {
    by_project: boolean().notNull(),
    by_type: boolean().notNull(),
    by_month: boolean().notNull(),
    /** Empty where the row is not by project; so are the others. */
    project_id: idText().notNull(),
    type: text().notNull(),
    month: text().notNull(),
    streaks: integer().notNull(),
    recovered: integer().notNull(),
    median_hours: doublePrecision(),
    p25_hours: doublePrecision(),
    p75_hours: doublePrecision(),
    closed_median_hours: doublePrecision(),
  },
  (table) => [
    primaryKey({
      name: "recovery_times_pk",
      columns: [table.by_project, table.by_type, table.by_month, table.project_id, table.type, table.month],
    }),
  ],
);

export const resources = rollup.table("resources", {
  resource: text().primaryKey(),
  records: bigint({ mode: "number" }).notNull(),
  deleted_records: bigint({ mode: "number" }).notNull(),
});
