import { sql } from "drizzle-orm";
import { boolean, check, date, index, integer, text } from "drizzle-orm/pg-core";
import { idText, moment, now, report } from "./columns.ts";

/**
 * The tables of schema `report`: dimensions with real keys, which tools use for joins, and the rules that
 * users edit. Everything else in the schema is a view. `src/report/dictionary.ts` explains the columns.
 */
export const dimProjects = report.table("dim_projects", {
  project_id: idText().primaryKey(),
  project_slug: text().notNull(),
  project_name: text().notNull(),
  repo: text(),
  repo_type: text(),
  documentation_type: text(),
  default_version: text(),
  default_branch: text(),
  published_on: date({ mode: "string" }),
  is_listed: boolean(),
  is_deleted: boolean().notNull(),
  first_seen_at: moment(),
  deleted_at: moment(),
  theme: text(),
  programming_language: text(),
  use_virtualenv: boolean(),
  updated_at: moment().notNull().default(now),
  renamed_at: moment().notNull().default(now),
});

export const dimVersions = report.table(
  "dim_versions",
  {
    version_id: idText().primaryKey(),
    project_id: idText()
      .notNull()
      .references(() => dimProjects.project_id),
    version_slug: text().notNull(),
    version_name: text(),
    identifier: text(),
    is_active: boolean(),
    is_built: boolean(),
    is_uploaded: boolean(),
    is_deleted: boolean().notNull(),
    first_seen_at: moment(),
    deleted_at: moment(),
    kind: text(),
    is_main: boolean().notNull(),
    updated_at: moment().notNull().default(now),
    renamed_at: moment().notNull().default(now),
  },
  (table) => [index("dim_versions_project_id").on(table.project_id)],
);

export const dimDates = report.table("dim_dates", {
  day: date({ mode: "string" }).primaryKey(),
  week: date({ mode: "string" }).notNull(),
  iso_week: text().notNull(),
  month: text().notNull(),
  quarter: text().notNull(),
  year: integer().notNull(),
  day_of_week: integer().notNull(),
  is_weekend: boolean().notNull(),
  month_start: date({ mode: "string" }).notNull().default("1970-01-01"),
  month_of_year: integer().notNull().default(1),
  month_name: text().notNull().default(""),
  quarter_start: date({ mode: "string" }).notNull().default("1970-01-01"),
  quarter_of_year: integer().notNull().default(1),
  day_name: text().notNull().default(""),
});

export const errorRules = report.table(
  "error_rules",
  {
    position: integer().primaryKey(),
    pattern: text().notNull(),
    class: text().notNull(),
    note: text(),
    is_platform: boolean().notNull().default(false),
  },
  // The check compiles the pattern, so an invalid pattern is rejected when it is written.
  (table) => [
    check("pattern_is_a_regular_expression", sql`('' ~* ${table.pattern}) is not null`),
    check("class_has_1_to_100_characters", sql`char_length(${table.class}) between 1 and 100`),
  ],
);
