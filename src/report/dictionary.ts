/**
 * The meaning of every relation and column of schema `report`, each in a sentence or two. The comments in the
 * database, `report.data_dictionary` and `docs/data-dictionary.md` come from here. Columns are in the order
 * of their relation.
 */
import { RESOURCES } from "../resources/resources.ts";
import type { Dictionary } from "../store/migrate/dictionary.ts";
import { ARRIVALS } from "./dictionary/arrivals.ts";
import { BROKEN_AND_FIXED } from "./dictionary/broken-and-fixed.ts";
import { DIMENSIONS } from "./dictionary/dimensions.ts";
import { DURATIONS } from "./dictionary/durations.ts";
import { ERRORS } from "./dictionary/errors.ts";
import { FAILING } from "./dictionary/failing.ts";
import {
  BUILT,
  COVERAGE,
  OPEN_BUILD,
  PROJECT,
  PROJECT_MEAN,
  RATE,
  REFERENCE,
  STUCK,
  TYPE,
  UNFINISHED,
  VERSION,
} from "./dictionary/shared-columns.ts";
import { TRUST } from "./dictionary/trust.ts";

export const DICTIONARY = {
  ...DIMENSIONS,
  fact_builds: {
    answers: "What is the result of each build? One row per build, deleted ones included.",
    columns: {
      build_id: "The build's id; no two rows have the same.",
      project_id: "Key of dim_projects; '-1' where the project is not in the mirror.",
      project_slug: PROJECT.project_slug,
      project_name: "The project's name.",
      version_id: "Key of dim_versions; '-1' where the version is not known.",
      version_slug: VERSION.version_slug,
      version_name: "The version's name as its repository spells it.",
      ...TYPE,
      state: "The state as the service last sent it; triggered, building and finished are documented.",
      outcome:
        "succeeded; failed; open; stuck (open for longer than DOCMIRROR_STUCK_AFTER when last seen); " +
        "vanished (gone before it was seen finished); unknown_state (no state, an undocumented one, or " +
        "finished without a result).",
      succeeded: "1 where it succeeded, 0 where it failed, null while not known.",
      failed: "1 where it failed, 0 where it succeeded, null while not known.",
      triggered_at:
        "When it was triggered: its date, read in DOCMIRROR_SOURCE_TIMEZONE; null where it has none.",
      triggered_on: "Its UTC day: key of dim_dates.",
      triggered_week: "The Monday of that day's ISO week.",
      triggered_iso_week: "That week, such as 2026-W47.",
      triggered_month: "That day's month, such as 2026-11.",
      is_time_ambiguous:
        "True where summer time repeats or skips that hour: triggered_at may be wrong by an hour.",
      finished_after: "It finished after this moment; null while it has not finished or nothing is known.",
      finished_before: "It was seen finished at this moment; null while it has not finished.",
      duration_s_min: "The shortest time from trigger to finish, in seconds; null while it has not finished.",
      duration_s_max:
        "The longest time from trigger to finish; null while it has not finished or no upper bound is known.",
      duration_s:
        "The middle of duration_s_min and duration_s_max, where they are at most 60 s or a quarter of duration_s_max apart; else null.",
      error_class:
        "The class that error_rules give the error line of a failed build, or unclassified; null for others.",
      error_fingerprint:
        "16 hex digits, the same for error lines that differ only in quoted names, packages, modules, " +
        "files, versions, hashes, numbers, dates and URLs; null for builds that did not fail.",
      output_excerpt: "The same as error_line, by its older name.",
      first_seen_at: "When the mirror first saw it.",
      deleted_at: "When the mirror found it deleted; null while it exists.",
      updated_at: "When this row last changed, its project's and its version's names included.",
      is_settled:
        "False while the build is open, or in an undocumented state; days and weeks are complete " +
        "without such builds. A stuck build counts as settled, although the service may still close it.",
      ...REFERENCE,
      is_dated_ahead:
        "True where the service dates it beyond tomorrow. Until its day is tomorrow it counts as a build without a date.",
      error_line_id:
        "16 hex digits, the same for builds with the same error: their lines differ at most in paths, numbers, hashes " +
        "and dates. See error_lines. Null for builds that did not fail.",
      fact_updated_at: "When this row last changed, names aside.",
      error_line:
        "The error line of a failed build, with the next line where it ends in a colon, at most 400 characters; null where there is none.",
    },
  },
  fact_months: {
    answers:
      "Which months of fact_builds changed? One row per month that ever had a build, and one for builds without a date.",
    columns: {
      month: "As triggered_month of fact_builds; null for builds without a date.",
      revision:
        "A number that changes with each change of a row of this month, names aside: these are in the dimensions. Equal revisions mean equal facts.",
    },
  },
  success_rate_daily: {
    answers: "How often do builds succeed, day by day? One row per UTC day from the first build to today.",
    columns: {
      day: "The UTC day on which the builds were triggered.",
      ...RATE,
      ...PROJECT_MEAN,
      projects: "Projects with such a build, without the unknown one.",
      ...UNFINISHED,
      ...COVERAGE("day"),
      ...STUCK,
    },
  },
  success_rate_weekly: {
    answers:
      "How often do builds succeed, week by week? One row per ISO week from the first build to this one.",
    columns: {
      week: "The Monday of the ISO week in which the builds were triggered.",
      iso_week: "That week, such as 2026-W47.",
      ...RATE,
      ...PROJECT_MEAN,
      projects: "Projects with such a build, without the unknown one.",
      ...UNFINISHED,
      ...COVERAGE("week"),
      ...STUCK,
    },
  },
  success_rate_monthly: {
    answers:
      "How often do builds succeed, month by month? One row per month from the first build to this one.",
    columns: {
      month: "The month, in UTC, in which the builds were triggered, such as 2026-11.",
      month_start: "Its first day.",
      ...RATE,
      ...PROJECT_MEAN,
      projects: "Projects with such a build, without the unknown one.",
      ...UNFINISHED,
      ...COVERAGE("month"),
      ...STUCK,
    },
  },
  success_rate_daily_by_project: {
    answers:
      "How often do the builds of a project succeed, day by day? One row per project and UTC day with builds; " +
      "docs/reports.md shows how to add the days without.",
    columns: {
      day: "The UTC day on which the builds were triggered.",
      ...PROJECT,
      ...RATE,
      ...UNFINISHED,
      ...BUILT("day"),
      ...STUCK,
    },
  },
  success_rate_weekly_by_project: {
    answers:
      "How often do the builds of a project succeed, week by week? One row per project and ISO week with builds.",
    columns: {
      week: "The Monday of the ISO week in which the builds were triggered.",
      iso_week: "That week, such as 2026-W47.",
      ...PROJECT,
      ...RATE,
      ...UNFINISHED,
      ...BUILT("week"),
      ...STUCK,
    },
  },
  success_rate_by_project: {
    answers: "How often do the builds of each project succeed? One row per project with builds.",
    columns: {
      ...PROJECT,
      ...RATE,
      ...UNFINISHED,
      versions: "Versions that were built.",
      first_triggered_at: "When its first build was triggered.",
      last_triggered_at: "When its last build was triggered.",
    },
  },
  success_rate_by_version: {
    answers:
      "How often do the builds of each version succeed? One row per version with builds, all types together.",
    columns: {
      ...PROJECT,
      ...VERSION,
      ...RATE,
      ...UNFINISHED,
      first_triggered_at: "When its first build was triggered.",
      last_triggered_at: "When its last build was triggered.",
    },
  },
  success_rate_by_type: {
    answers: "How often do builds of each type succeed? One row per type.",
    columns: {
      ...TYPE,
      ...RATE,
      ...PROJECT_MEAN,
      projects: "Projects with such a build, without the unknown one.",
      ...UNFINISHED,
    },
  },
  ...DURATIONS,
  regressions: {
    answers:
      "Which projects got worse? One row per project whose success rate of the last 7 days is surely " +
      "lower than that of the 28 days before, with 20 finished builds or more in both.",
    columns: {
      ...PROJECT,
      finished_last_7_days:
        "Finished builds of the last 7 days: UTC days of triggers, up to the day of the last sync, with that day.",
      succeeded_last_7_days: "Those that succeeded.",
      success_rate_last_7_days: "Their share.",
      finished_28_days_before: "Finished builds of the 28 days before those.",
      succeeded_28_days_before: "Those that succeeded.",
      success_rate_28_days_before: "Their share.",
      difference: "success_rate_last_7_days - success_rate_28_days_before: below 0.",
      difference_low: "Lower end of the 95 % interval of difference, by Newcombe (1998), method 10.",
      difference_high: "Upper end of that interval: below 0 in each row.",
      last_failed_build_id: "The newest failed build of the last 7 days.",
    },
  },
  ...FAILING,
  ...BROKEN_AND_FIXED,
  open_builds: {
    answers: "Which builds have not finished? One row per build, stuck ones included.",
    columns: OPEN_BUILD,
  },
  stuck_builds: {
    answers:
      "Which builds are stuck? One row per build that was older than DOCMIRROR_STUCK_AFTER when last seen open.",
    columns: OPEN_BUILD,
  },
  backlog: {
    answers:
      "How many builds wait or work at a time? One row per UTC hour from the first build to the last " +
      "hour that a sync has covered. It may be minutes older than the other answers.",
    columns: {
      hour: "The start of the UTC hour: the moment that is counted. The first one is that of the earliest date since 2000.",
      open_min:
        "Builds that were surely open: seen before, and seen open again later, or a later bound of their finish says so.",
      open_max:
        "Builds that may have been open: from their date (an hour earlier where is_time_ambiguous), or " +
        "their first sighting where that is earlier or all there is, until they were seen finished or " +
        "gone. Stuck ones count to this day.",
      is_covered:
        "False where no sync has read the build list since that moment. Such hours are there only where a known build may have been open.",
    },
  },
  ...ARRIVALS,
  incident_hours: {
    answers:
      "When was it the platform's fault? One row per hour in which far more projects failed than their " +
      "own rates predict. It may be minutes older than the other answers.",
    columns: {
      hour: "The UTC hour in which the builds were triggered.",
      projects: "Projects with a finished build of that hour, at least 8.",
      projects_failing: "Projects with a failed build of that hour.",
      projects_expected: "How many projects would fail at their rates of all other hours.",
      probability: "The chance that so many or more fail (binomial), at most 0.00001.",
      builds: "Finished builds of the hour.",
      failed: "Failed builds of the hour.",
    },
  },
  ...ERRORS,
  project_activity: {
    answers: "How much does each project build? One row per project and ISO week with builds.",
    columns: {
      ...PROJECT,
      week: "The Monday of the ISO week in which the builds were triggered.",
      iso_week: "That week, such as 2026-W47.",
      ...RATE,
      active_days: "Days of the week with a build.",
      failure_days: "Days of the week with a failed build.",
    },
  },
  freshness: {
    answers: "How fresh is the mirror? One row per resource.",
    columns: {
      resource: `${RESOURCES.slice(0, -1).join(", ")} or ${RESOURCES.at(-1)}.`,
      last_good_at:
        "When the newest good walk of its list ended: a whole one, or a head whose counts agree. Null where there is none.",
      current_through:
        "When that walk began, in an earlier run where it was resumed: the mirror has everything that happened before.",
      lag_s: "Seconds from current_through to now; null where a wrong clock dated it ahead.",
      last_walk: "How that walk ended: whole or head.",
      last_whole_at: "When the last whole walk ended; null where there is none.",
      last_attempt_at: "When the last walk began, however it ended.",
      is_whole: "True when the last walk that ended was a good one.",
      records: "Records that the service still has, as of the last refresh.",
      deleted_records: "Records that it no longer has, as of the last refresh.",
      quarantined: "Records that wait in quarantine.",
      refreshed_at: "When the answers of this schema were last computed.",
      deficit:
        "How many more records the service counted than the mirror has, when the list was last read; null where that was not compared.",
      mirror_last_good_at: "The earliest last_good_at of all lists. Null while a list has none.",
      mirror_current_through:
        "The earliest current_through of all lists: the mirror is as fresh as its oldest list.",
      replica_lag_s:
        "On a streaming replica, seconds since the last change that it replayed; 0 where it has " +
        "replayed all that it received. Null on a primary, and on a replica that has replayed nothing " +
        "since it started.",
      facts_checked_at:
        "When all facts of builds were last compared with their records, or computed from them.",
      facts_repaired:
        "Facts that this comparison found wrong, and computed again. Anything but 0 is a fault of docmirror, or of who wrote to its tables.",
      covered_through:
        "In the row of builds: is_covered and is_complete count what happened before this moment, as of the last refresh. Null before the first whole walk.",
      builds_dated_ahead:
        "In the row of builds: how many are dated beyond tomorrow, which counts as no date, as of the last refresh.",
      refreshed_run_id:
        "The newest run that is in the answers, key of runs; 0 where they were computed before any run had ended.",
      read_since:
        "Since when every record of the list was read at least once: whole, or the builds in shares over some nights. Null where that never was.",
    },
  },
  runs: {
    answers:
      "What did docmirror do? One row per run; rounds of the watch that saw nothing are one row an hour, that of the last of them.",
    columns: {
      run_id: "The run's number; the payload of NOTIFY docmirror_run.",
      kind: "full, incremental, watch or quarantine.",
      status: "running, succeeded, partial, failed or interrupted.",
      started_at: "When it began.",
      finished_at: "When it ended; null while it runs.",
      duration_s: "How many seconds it took; null while it runs.",
      requests: "Requests sent.",
      bytes: "Bytes received.",
      pages: "Pages of lists read.",
      records: "Records on those pages.",
      inserted: "Records that were new.",
      updated: "Records that had changed.",
      deleted: "Records that were gone.",
      restored: "Records that were gone and came back.",
      quarantined: "Records that could not be stored.",
      transitions: "Transitions of builds.",
      warnings: "How many warnings it gave.",
      error: "What ended it early; null where nothing did.",
      unfinished:
        "Work that it left: deletions to confirm, references to ask for, open builds to poll. Null in runs of older versions.",
      rounds: "How many runs the row stands for: 1, or more where rounds of the watch saw nothing.",
      rounds_first_run_id: "The number of the first of them; the others lie between it and run_id.",
      rounds_since: "When the first of them began.",
      rounds_requests: "Requests that all of them sent; sums add up by it.",
      rounds_bytes: "Bytes that all of them received.",
    },
  },
  ...TRUST,
  data_dictionary: {
    answers: "What does each column mean? One row per column of this schema.",
    columns: {
      relation: "The table or view.",
      relation_comment: "The question that it answers.",
      position: "The column's place, from 1.",
      column_name: "The column.",
      data_type: "Its type, as Postgres names it.",
      description: "Its meaning.",
    },
  },
} as const satisfies Dictionary;

export type Relation = keyof typeof DICTIONARY;

/** The names of the columns of a relation. */
export type ColumnOf<R extends Relation> = R extends Relation
  ? keyof (typeof DICTIONARY)[R]["columns"] & string
  : never;

/** All relations of schema `report`, in the order of the dictionary. */
export const RELATIONS = Object.keys(DICTIONARY) as Relation[];

/** The columns of a relation, in the order in which it has them. */
export function columnsOf<R extends Relation>(relation: R): ColumnOf<R>[] {
  return Object.keys(DICTIONARY[relation].columns) as ColumnOf<R>[];
}
