/**
 * The meaning of every relation and column of schema `report`, each in a sentence or two. The comments in the
 * database, `report.data_dictionary` and `docs/data-dictionary.md` come from here. Columns are in the order
 * of their relation.
 */
import { FAILING } from "./report-dictionary/failing.ts";
import {
  COVERAGE,
  FAILURES,
  OPEN_BUILD,
  PROJECT,
  PROJECT_MEAN,
  RATE,
  REFERENCE,
  SERIES,
  STUCK,
  TYPE,
  UNFINISHED,
  VERSION,
} from "./report-dictionary/shared-columns.ts";
import { TRUST } from "./report-dictionary/trust.ts";

export interface RelationEntry {
  /** The question that the relation answers, and what one row is. */
  readonly answers: string;
  readonly columns: Readonly<Record<string, string>>;
}

export const DICTIONARY = {
  dim_projects: {
    answers:
      "Which projects are there? One row per project, and '-1' for builds whose project is not in the mirror.",
    columns: {
      project_id: "Primary key: the project's id; '-1' for the unknown one.",
      project_slug: "The project's slug; its id where it has none.",
      project_name: "Its name; the slug where it has none.",
      repo: "The address of its source repository.",
      repo_type: "git, hg, bzr or svn.",
      documentation_type: "The tool that builds its documentation.",
      default_version: "The slug of its default version.",
      default_branch: "The branch that latest is built from; null where none is set.",
      published_on: "The UTC day on which it was created (pub_date).",
      is_listed: "False where the list hides it, and only references show it.",
      is_deleted: "True when the service no longer has it; its builds still count.",
      first_seen_at: "When the mirror first saw it.",
      deleted_at: "When the mirror found it deleted; null while it exists.",
    },
  },
  dim_versions: {
    answers: "Which versions are there? One row per version, and '-1' for builds without a known version.",
    columns: {
      version_id: "Primary key: the version's id; '-1' for the unknown one.",
      project_id: "Its project: key of dim_projects; '-1' where that is not in the mirror.",
      version_slug: "Its slug, such as latest; its id where it has none.",
      version_name: "Its name as its repository spells it (verbose_name).",
      identifier: "Its branch, tag or commit.",
      is_active: "Whether its documentation is kept up to date.",
      is_built: "Whether it was ever built, as the service says.",
      is_uploaded: "Whether its documentation was uploaded, not built.",
      is_deleted: "True when the service no longer has it; its builds still count.",
      first_seen_at: "When the mirror first saw it.",
      deleted_at: "When the mirror found it deleted; null while it exists.",
    },
  },
  dim_dates: {
    answers: "The calendar: every UTC day from the first build to the end of next year.",
    columns: {
      day: "Primary key: the UTC day.",
      week: "The Monday of its ISO week.",
      iso_week: "The ISO week, such as 2026-W47.",
      month: "The month, such as 2026-11.",
      quarter: "The quarter, such as 2026-Q4.",
      year: "The calendar year; the ISO week's year may differ.",
      day_of_week: "1 for Monday to 7 for Sunday.",
      is_weekend: "True on Saturday and Sunday.",
    },
  },
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
        "succeeded; failed; open; stuck (open for longer than DOCMIRROR_STUCK_AFTER when last seen); vanished (gone before it was seen finished); unknown_state (no state, an undocumented one, or finished without a result).",
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
        "16 hex digits, the same for error lines that differ only in quoted names, packages, modules, files, versions, hashes, numbers, dates and URLs; null for builds that did not fail.",
      output_excerpt:
        "The error line of a failed build, with the next line where it ends in a colon, at most 400 characters; null where there is none.",
      first_seen_at: "When the mirror first saw it.",
      deleted_at: "When the mirror found it deleted; null while it exists.",
      updated_at: "When this row last changed, its project's and its version's names included.",
      is_settled:
        "False while the build is open, or in an undocumented state; days and weeks are complete without such builds. A stuck build counts as settled, although the service may still close it.",
      ...REFERENCE,
      is_dated_ahead:
        "True where the service dates it beyond tomorrow. Until its day is tomorrow it counts as a build without a date.",
    },
  },
  fact_months: {
    answers:
      "Which months of fact_builds changed? One row per month that ever had a build, and one for builds without a date.",
    columns: {
      month: "As triggered_month of fact_builds; null for builds without a date.",
      revision:
        "Another one after each change of such a row, its names included; equal revisions mean equal rows.",
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
  success_rate_daily_by_project: {
    answers:
      "How often do the builds of a project succeed, day by day? One row per project and day from its first build to today.",
    columns: {
      day: "The UTC day on which the builds were triggered.",
      ...PROJECT,
      ...RATE,
      ...UNFINISHED,
      ...COVERAGE("day"),
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
  build_times_daily: {
    answers:
      "How long do builds take? One row per UTC day. Each true percentile lies between its two bounds.",
    columns: {
      day: "The UTC day on which the builds were triggered.",
      finished: "Finished builds of the day, with any result; the percentiles are over these.",
      p50_s_min: "The median of the lower bounds, in seconds; null where nothing finished.",
      p50_s_max: "The median of the upper bounds; null where none is known.",
      p90_s_min: "The 90th percentile of the lower bounds.",
      p90_s_max: "The 90th percentile of the upper bounds; null where none is known.",
      p95_s_min: "The 95th percentile of the lower bounds.",
      p95_s_max: "The 95th percentile of the upper bounds; null where none is known.",
      is_complete: COVERAGE("day").is_complete,
      is_covered: "False where no sync has read the build list since the day began.",
    },
  },
  ...FAILING,
  recoveries: {
    answers: "How long did repairs take? One row per streak of failures of a series, up to the next success.",
    columns: {
      ...SERIES,
      failures: "Consecutive finished builds that failed.",
      first_failed_build_id: "The first of these failures.",
      failed_at: "When the first failure was triggered.",
      failed_after: "The first failure finished after this moment; null where nothing is known.",
      failed_before: "The first failure was seen finished at this moment.",
      recovered_build_id:
        "The success that ended the streak; null while there is none, and so are the columns about it.",
      recovered_at: "When that success was triggered.",
      recovered_after: "That success finished after this moment; null where nothing is known.",
      recovered_before: "That success was seen finished at this moment.",
      recovery_s_min:
        "The shortest time between the ends of the first failure and of the success, in seconds; of an open streak, between that failure and the last sync.",
      recovery_s_max: "The longest such time; null while the streak is open or no bound is known.",
      is_open: "True while no later build of the series has succeeded.",
      is_overlapped:
        "True where the success was triggered after the failure, but may have finished before it.",
      error_class: "The error class of the first failure.",
    },
  },
  instability: {
    answers:
      "Which series change between success and failure, and is that more than chance? One row per series with two finished builds or more, over its last 20.",
    columns: {
      ...SERIES,
      finished: "Finished builds that count here, at most 20.",
      succeeded: "Those that succeeded.",
      failed: "Those that failed.",
      flips: "How often the result differs from the one before.",
      flip_rate: "flips / (finished - 1).",
      flip_rate_by_chance:
        "2p(1-p), where p is the share that succeeded: the flip rate of random results. Flaky series are far above it.",
    },
  },
  open_builds: {
    answers: "Which builds have not finished? One row per build, stuck ones included.",
    columns: OPEN_BUILD,
  },
  stuck_builds: {
    answers:
      "Which builds are stuck? One row per build that was older than DOCMIRROR_STUCK_AFTER when last seen open.",
    columns: OPEN_BUILD,
  },
  incident_hours: {
    answers:
      "When was it the platform's fault? One row per hour in which far more projects failed than their own rates predict. It may be minutes older than the other answers.",
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
  error_classes: {
    answers: "Why do builds fail? One row per class of failures, ranked by the projects that they hit.",
    columns: {
      rank: "1 for the one that hits the most projects; then by failures.",
      error_class: "The class, by error_rules.",
      ...FAILURES("class"),
    },
  },
  error_fingerprints: {
    answers:
      "Which errors are the same? One row per fingerprint of failures, ranked by the projects that they hit.",
    columns: {
      rank: "1 for the one that hits the most projects; then by failures.",
      error_class: "The class of the newest of them, by error_rules.",
      error_fingerprint: "The fingerprint (see fact_builds).",
      ...FAILURES("fingerprint"),
    },
  },
  error_fingerprints_daily: {
    answers:
      "When did which error happen? One row per UTC day, class and fingerprint with failures; days without failures have none.",
    columns: {
      day: "The UTC day on which the builds were triggered.",
      error_class: "The class, by error_rules.",
      error_fingerprint: "The fingerprint (see fact_builds).",
      failures: "Failed builds of this day, class and fingerprint.",
      projects: "Projects with such a failure, without the unknown one.",
    },
  },
  error_trend_weekly: {
    answers:
      "Which causes of failure become more frequent? One row per class and ISO week from the first build to this one, weeks without such failures included.",
    columns: {
      week: "The Monday of the ISO week in which the builds were triggered.",
      iso_week: "That week, such as 2026-W47.",
      error_class: "The class, by error_rules.",
      failures: "Failed builds of this week and class.",
      failure_share: "Their share of the week's failures, 0 to 1; null where nothing failed.",
      projects: "Projects with such a failure, without the unknown one.",
      finished: "Finished builds of the week, of whatever result.",
      failure_rate:
        "failures / finished, 0 to 1; null where nothing finished. Do not average it: divide sums.",
      ...COVERAGE("week"),
    },
  },
  success_rate_without_platform: {
    answers:
      "How often do builds succeed, apart from faults of the platform? One row per UTC day from the first build to today. Left out are all builds of incident_hours, and failures of the platform's classes in error_rules.",
    columns: {
      day: "The UTC day on which the builds were triggered.",
      finished: "Builds with a known result, nothing left out, as in success_rate_daily.",
      succeeded: "Those that succeeded.",
      failed: "Those that failed.",
      success_rate: "succeeded / finished, 0 to 1; null where nothing finished.",
      finished_without_platform: "Finished builds that are not left out.",
      succeeded_without_platform: "Those that succeeded.",
      failed_without_platform: "Those that failed.",
      success_rate_without_platform:
        "succeeded_without_platform / finished_without_platform, 0 to 1; null where none is left.",
      success_rate_without_platform_low:
        "Lower end of the 95 % Wilson interval of success_rate_without_platform.",
      success_rate_without_platform_high: "Upper end of that interval.",
      incident_hours: "Incident hours of the day.",
      ...COVERAGE("day"),
    },
  },
  error_rules: {
    answers:
      "Which rules classify failures? The first that matches counts. You may edit them; `docmirror reclassify` applies them to stored failures.",
    columns: {
      position: "Primary key: lower ones are tried first.",
      pattern: "A POSIX regular expression, matched against the error line in any case.",
      class: "The class of a failure that matches.",
      note: "Why the rule is there.",
      is_platform:
        "True where such failures are the platform's fault: success_rate_without_platform leaves them out. A class is the platform's where any of its rules says so.",
    },
  },
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
      resource: "user, project, version, build or file.",
      last_good_at:
        "When the newest good walk of its list ended: a whole one, or a head whose counts agree. Null where there is none.",
      current_through: "When that walk began: the mirror has everything that happened before.",
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
        "How many more records the service counted than the mirror has, when the head was last read; null where the whole list was read.",
      mirror_last_good_at:
        "The earliest last_good_at of all lists: the mirror is as fresh as its oldest list. Null while a list has none.",
      mirror_current_through: "The earliest current_through of all lists.",
      replica_lag_s:
        "On a streaming replica, seconds since the last change that it replayed; 0 where it has replayed all that it received. Null on a primary, and on a replica that has replayed nothing since it started.",
      facts_checked_at:
        "When all facts of builds were last compared with their records, or computed from them.",
      facts_repaired:
        "Facts that this comparison found wrong, and computed again. Anything but 0 is a fault of docmirror, or of who wrote to its tables.",
      covered_through:
        "In the row of builds: is_covered and is_complete count what happened before this moment, as of the last refresh. Null before the first whole walk.",
      builds_dated_ahead:
        "In the row of builds: how many are dated beyond tomorrow, which counts as no date, as of the last refresh.",
    },
  },
  runs: {
    answers: "What did docmirror do? One row per run.",
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
} as const satisfies Record<string, RelationEntry>;

export type Relation = keyof typeof DICTIONARY;

/** All relations of schema `report`, in the order of the dictionary. */
export const RELATIONS = Object.keys(DICTIONARY) as Relation[];
