import { sql } from "drizzle-orm";
import { boolean, check, doublePrecision, integer, text, uuid } from "drizzle-orm/pg-core";
import { count, moment, rollup, runId, wholeNumber } from "./columns.ts";

/**
 * With which settings, and up to when, the answers of `src/report/stored` were computed. The columns that begin with `dear_` are those
 * of the expensive answers (`EXPENSIVE_ANSWERS`): a program that runs during an upgrade could not read renamed ones.
 */
export const state = rollup.table(
  "state",
  {
    /** The table has one row. */
    id: integer().primaryKey().default(1),
    /** The settings with which the answers were computed. */
    source_timezone: text().notNull(),
    stuck_after_s: doublePrecision().notNull(),
    /** One hash of the definitions that computed the answers. When it changes, everything is computed again. */
    definition: text().notNull(),
    /** The answers include everything that the runs up to this one saw. */
    run_id: runId(),
    /** Everything that happened upstream before this moment has been read. Null until a whole walk of the builds has ended. */
    covered_through: moment(),
    refreshed_at: moment().notNull(),
    /** When the expensive answers were last computed, and how long that took. */
    dear_refreshed_at: moment(),
    dear_took_s: doublePrecision().notNull().default(0),
    /** The sum of `sync.revisions` then: while it is the same, no record has changed. */
    dear_revision: wholeNumber().notNull().default(-1),
    /** The moment from which on a build that is dated beyond tomorrow counts: the first one. Null without any. */
    next_dated_at: moment(),
    /** The number of builds that are dated beyond tomorrow. */
    builds_dated_ahead: integer().notNull().default(0),
    /** When every fact was last compared with its build, or computed. */
    checked_at: moment(),
    /** Facts that the last comparison found wrong, and computed again. */
    facts_repaired: count(),
  },
  (table) => [check("state_has_one_row", sql`${table.id} = 1`)],
);

/** The refresh that failed last, until one goes well. The transaction of a refresh is gone by then, so this has its own. */
export const failedRefresh = rollup.table(
  "failed_refresh",
  {
    /** Always true: the table has one row at most. */
    id: boolean().primaryKey().default(true),
    failed_at: moment().notNull(),
    error: text().notNull(),
  },
  (table) => [check("failed_refresh_is_one", sql`${table.id}`)],
);

/** One row for each month that ever had a build. Triggers of the migration on the facts keep it. */
export const factMonths = rollup.table("fact_months", {
  /** As in `report.dim_dates`; empty for builds without a date. */
  month: text().primaryKey(),
  /** Drawn anew whenever a fact of the month comes, goes or changes, so no copy or backup has it twice. */
  revision: uuid().notNull(),
});
