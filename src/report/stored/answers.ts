/**
 * Stored answers that several relations read, and the ways in which a refresh finds the parts of them that changes affect. Those that
 * one relation alone reads are in the file of its topic. The source of each table is the view beside it, `NAME_source.sql`.
 */
import { sql } from "drizzle-orm";
import { boolean, date, doublePrecision, index, integer, primaryKey, text } from "drizzle-orm/pg-core";
import { amount, bytea, idText, moment, rollup } from "../../store/schema/columns.ts";
import { dimDates, dimProjects, dimVersions } from "../../store/schema/report.ts";
import {
  affected,
  KEY_OF_SERIES,
  list,
  type Parts,
  partsOf,
  type StoredAnswer,
  stored,
  touched,
} from "../declare-relation.ts";
import { DICTIONARY } from "../dictionary.ts";

const counts = () => ({
  builds: amount(),
  finished: amount(),
  succeeded: amount(),
  failed: amount(),
});

const keyOfSeries = () => ({
  project_id: idText().notNull(),
  version_id: idText().notNull(),
  type: text().notNull(),
});

/** One row for each build: the content of `report.fact_builds`, without names. */
export const rollupBuilds = rollup.table(
  "builds",
  {
    build_id: idText().primaryKey(),
    ...keyOfSeries(),
    /**
     * The name by which the build called a project or version that the mirror lacks; empty where it named no such one, and
     * `(none)` where it named no version, so that nothing says which series it belongs to.
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
    error_line: text(),
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
export const BUILD_FACTS = stored(rollupBuilds, null, ["triggered_at", "build_id"]);

export const projectDays = rollup.table(
  "project_days",
  {
    project_id: idText().notNull(),
    day: date({ mode: "string" }).notNull(),
    ...counts(),
    unsettled: amount(),
    stuck: amount().default(0),
    cancelled: amount().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.project_id, table.day] }),
    index("project_days_day").on(table.day),
  ],
);

export const days = rollup.table("days", {
  day: date({ mode: "string" }).primaryKey(),
  ...counts(),
  unsettled: amount(),
  projects: amount(),
  success_rate_project_mean: doublePrecision(),
  /** Builds that finished, whatever their result. The percentiles are those of their times. */
  measured: amount(),
  /** Bounds, in seconds. */
  p50_s_min: doublePrecision(),
  p50_s_max: doublePrecision(),
  p90_s_min: doublePrecision(),
  p90_s_max: doublePrecision(),
  p95_s_min: doublePrecision(),
  p95_s_max: doublePrecision(),
  stuck: amount().default(0),
  cancelled: amount().default(0),
});

/** One row for each series: project, version, type, and what names an unknown one. */
export const series = rollup.table(
  "series",
  {
    ...keyOfSeries(),
    ...counts(),
    first_triggered_at: moment(),
    last_triggered_at: moment(),
    /** Counts over its last 20 finished builds. */
    recent_finished: amount(),
    recent_succeeded: amount(),
    recent_flips: amount(),
    reference: text().notNull().default(""),
    cancelled: amount().default(0),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.version_id, table.type, table.reference] })],
);

/** One row for each streak of failures of a series. */
export const streaks = rollup.table(
  "streaks",
  {
    ...keyOfSeries(),
    first_failed_build_id: idText().notNull(),
    last_failed_build_id: idText().notNull(),
    /** The success before the streak, and the success that ended it. Null where there is none. */
    last_succeeded_build_id: idText(),
    last_succeeded_at: moment(),
    recovered_build_id: idText(),
    recovered_at: moment(),
    recovered_after: moment(),
    recovered_before: moment(),
    failures: amount(),
    broke_at: moment(),
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
      table.broke_at,
    ),
    // For what broke, and what was fixed, in some weeks.
    index("streaks_broke_at").on(table.broke_at),
    index("streaks_recovered_at").on(table.recovered_at),
  ],
);

const ENDS: Parts = {
  ...partsOf("series_ends", KEY_OF_SERIES),
  rows: `
    select ${list(KEY_OF_SERIES, "part")}, streak.*
    from rollup.streaks_of(${list(KEY_OF_SERIES, "part")}, part.since) as streak`,
  // Failures of the same moment may come before the success.
  isWithin: (
    row,
  ) => `(part.since is null or (${row}.broke_at, length(${row}.first_failed_build_id), ${row}.first_failed_build_id)
    > (part.since, length(part.success_id), part.success_id))`,
};

/** The failures of a project that look alike. What all projects have of them is a cheap sum. */
export const errors = rollup.table(
  "errors",
  {
    error_class: text().notNull(),
    error_fingerprint: text().notNull(),
    failures: amount(),
    /** 1; 0 for builds without a project. */
    projects: amount(),
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

/** Records and days by themselves. Each list, and each answer in it, comes after those that it is computed from. */
export const STORED_DIMENSIONS: readonly StoredAnswer[] = [
  stored(dimProjects, touched("project")),
  stored(dimVersions, partsOf("touched_versions", ["version_id"])),
];

export const DATES = stored(dimDates);

const OWN = Object.values(DICTIONARY).flatMap(({ stored }) => stored ?? []);

export const ANSWERS: readonly StoredAnswer[] = [
  stored(projectDays, affected("project_id", "day"), ["day", "project_id"]),
  stored(days, affected("day")),
  stored(series, affected(...KEY_OF_SERIES)),
  stored(streaks, ENDS),
  stored(errors, affected("error_fingerprint", "project_id")),
  ...OWN.filter(({ parts }) => parts !== null),
];

/** They read all builds, or all records, so they are not computed after every round of the watch. */
export const EXPENSIVE_ANSWERS: readonly StoredAnswer[] = OWN.filter(({ parts }) => parts === null);

/** The tables of all that is stored. */
export const TABLES = [BUILD_FACTS, ...ANSWERS, ...EXPENSIVE_ANSWERS].map(({ drizzle }) => drizzle);
