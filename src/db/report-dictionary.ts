/**
 * What every relation and column of schema `report` means, each in a sentence or two. From here come the comments in the database, and with
 * them `report.data_dictionary`, and `docs/data-dictionary.md`. Columns stand in the order in which the relation has them.
 */
import {
  COVERAGE,
  OPEN_BUILD,
  PROJECT,
  PROJECT_MEAN,
  RATE,
  SERIES,
  TYPE,
  UNFINISHED,
  VERSION,
} from "./report-dictionary/shared-columns.ts";

export interface RelationEntry {
  /** What the relation answers, and what one row of it is. */
  readonly answers: string;
  readonly columns: Readonly<Record<string, string>>;
}

export const DICTIONARY = {
  dim_projects: {
    answers:
      "Which projects are there? One row a project, and one with id '-1' for builds whose project is not in the mirror.",
    columns: {
      project_id: "Primary key: the project's id upstream, '-1' for the unknown one.",
      project_slug: "Its slug; the id where it has none.",
      project_name: "Its name; the slug where it has none.",
      repo: "Where its source lives, as it says.",
      repo_type: "git, hg, bzr or svn, as it says.",
      documentation_type: "The tool that its documentation is made with, as it says.",
      default_version: "The slug of the version that readers get without asking for one.",
      default_branch: "The branch that latest is built from; null where it says none.",
      published_on: "The UTC day on which it was created (pub_date read in the source zone).",
      is_listed: "False for a project that its list hides, known from what points to it.",
      is_deleted: "True when the service no longer has it; what it built still counts.",
      first_seen_at: "When the mirror first saw it.",
      deleted_at: "When it was found to be gone; null while it is there.",
    },
  },
  dim_versions: {
    answers:
      "Which versions are there? One row a version, and one with id '-1' for builds without a known one.",
    columns: {
      version_id: "Primary key: the version's id upstream, '-1' for the unknown one.",
      project_id: "The project it belongs to: key of dim_projects, '-1' where that is not in the mirror.",
      version_slug: "Its slug, such as latest; the id where it has none.",
      version_name: "Its name as its repository spells it (verbose_name).",
      identifier: "The branch, tag or commit it stands for.",
      is_active: "Whether its documentation is kept up to date.",
      is_built: "Whether it was ever built, as the service says.",
      is_uploaded: "Whether its documentation was uploaded, not built.",
      is_deleted: "True when the service no longer has it; what was built of it still counts.",
      first_seen_at: "When the mirror first saw it.",
      deleted_at: "When it was found to be gone; null while it is there.",
    },
  },
  dim_dates: {
    answers: "The calendar, without holes: every UTC day from the first build to the end of next year.",
    columns: {
      day: "Primary key: the UTC day.",
      week: "The Monday of its ISO week.",
      iso_week: "The ISO week, such as 2026-W47.",
      month: "The month, such as 2026-11.",
      quarter: "The quarter, such as 2026-Q4.",
      year: "The calendar year; that of the ISO week may differ around New Year.",
      day_of_week: "1 for Monday to 7 for Sunday.",
      is_weekend: "True on Saturdays and Sundays.",
    },
  },
  fact_builds: {
    answers: "What became of each build? One row a build, those that upstream has deleted since too.",
    columns: {
      build_id: "The build's id upstream; each stands once.",
      project_id: "Key of dim_projects; '-1' where the project is not in the mirror.",
      project_slug: PROJECT.project_slug,
      project_name: "The project's name.",
      version_id: "Key of dim_versions; '-1' where the build names none, or one that is not in the mirror.",
      version_slug: VERSION.version_slug,
      version_name: "The version's name as its repository spells it.",
      ...TYPE,
      state: "The state as the service last sent it; triggered, building and finished are documented.",
      outcome:
        "succeeded, failed, open, stuck (open for longer than DOCMIRROR_STUCK_AFTER when last seen), vanished (gone before it was seen finished) or unknown_state (no state, one that is not documented, or finished without a word on success).",
      succeeded:
        "1 where it succeeded, 0 where it failed, null while that is not known: sums and averages come out right.",
      failed: "1 where it failed, 0 where it succeeded, null while that is not known.",
      triggered_at:
        "When it was triggered: its date, read in DOCMIRROR_SOURCE_TIMEZONE; null where there is none.",
      triggered_on: "The UTC day of triggered_at: key of dim_dates.",
      triggered_week: "The Monday of that day's ISO week.",
      triggered_iso_week: "That week's name, such as 2026-W47.",
      triggered_month: "That day's month, such as 2026-11.",
      is_time_ambiguous:
        "True where the date lies in an hour that summer time repeats or skips: triggered_at may be an hour off.",
      finished_after:
        "It was not finished yet at this moment, or had just been triggered; null while it has not finished, or where nothing is known.",
      finished_before: "It was seen finished at this moment; null while it has not finished.",
      duration_s_min:
        "It took at least so many seconds from trigger to finish; null while it has not finished.",
      duration_s_max:
        "It took at most so many seconds; null while it has not finished, or where no upper bound is known.",
      duration_s:
        "The middle of the two bounds, in seconds, where they are at most 60 s or a quarter of duration_s_max apart; else null: a number would pretend.",
      error_class:
        "Of a failed build: the class that the rules of error_rules give its error line, else unclassified; null for others.",
      error_fingerprint:
        "Of a failed build: 16 hex digits that are the same for error lines that differ only in paths, hashes, numbers, dates and URLs.",
      output_excerpt:
        "Of a failed build: the line of its texts that says what went wrong, 400 characters at most; null where it left none.",
      first_seen_at: "When the mirror first saw it.",
      deleted_at: "When it was found to be gone upstream; null while it is there.",
      updated_at: "When this row last changed.",
    },
  },
  success_rate_daily: {
    answers:
      "How often do builds succeed, day by day? One row for every UTC day from the first build to today.",
    columns: {
      day: "The UTC day on which the builds were triggered.",
      ...RATE,
      ...PROJECT_MEAN,
      projects: "Projects with a build on the day; the unknown one does not count.",
      ...UNFINISHED,
      ...COVERAGE("day"),
    },
  },
  success_rate_weekly: {
    answers:
      "How often do builds succeed, week by week? One row for every ISO week from the first build to this one.",
    columns: {
      week: "The Monday of the ISO week in which the builds were triggered.",
      iso_week: "Its name, such as 2026-W47.",
      ...RATE,
      ...PROJECT_MEAN,
      projects: "Projects with a build in the week; the unknown one does not count.",
      ...UNFINISHED,
      ...COVERAGE("week"),
    },
  },
  success_rate_daily_by_project: {
    answers:
      "How often do the builds of a project succeed, day by day? One row a project and day, from its first build to today without holes.",
    columns: {
      day: "The UTC day on which the builds were triggered.",
      ...PROJECT,
      ...RATE,
      ...UNFINISHED,
      ...COVERAGE("day"),
    },
  },
  success_rate_by_project: {
    answers:
      "How often do the builds of each project succeed? One row a project with builds, all of its builds counting.",
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
      "How often do the builds of each version succeed? One row a version with builds, all types together.",
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
    answers: "How often do builds of each type succeed? One row a type.",
    columns: {
      ...TYPE,
      ...RATE,
      ...PROJECT_MEAN,
      projects: "Projects with a build of the type; the unknown one does not count.",
      ...UNFINISHED,
    },
  },
  build_times_daily: {
    answers:
      "How long do builds take? One row for every UTC day; the true percentile lies between the two bounds, which are as wide as the mirror looked seldom.",
    columns: {
      day: "The UTC day on which the builds were triggered.",
      finished: "Builds of the day that have finished: these are measured, whatever their result.",
      p50_s_min:
        "Half of them took no longer than a time that is not below this, in seconds: the median of the lower bounds. Null where nothing finished.",
      p50_s_max: "The median of the upper bounds, in seconds; null where no upper bound is known.",
      p90_s_min: "The 90th percentile of the lower bounds, in seconds.",
      p90_s_max: "The 90th percentile of the upper bounds, in seconds; null where no upper bound is known.",
      p95_s_min: "The 95th percentile of the lower bounds, in seconds.",
      p95_s_max: "The 95th percentile of the upper bounds, in seconds; null where no upper bound is known.",
      is_complete: COVERAGE("day").is_complete,
      is_covered: "False where no sync has read the build list since the day began.",
    },
  },
  failing_now: {
    answers:
      "What is broken at the moment? One row a series (project, version, type) whose last finished build failed, unless upstream has deleted the project or version.",
    columns: {
      ...SERIES,
      failures: "Finished builds that failed in a row up to now.",
      failing_since: "When the first of them was triggered.",
      first_failed_build_id: "The first of them.",
      last_failed_at: "When the last of them was triggered.",
      last_failed_build_id: "The last of them.",
      last_succeeded_at: "When the last build that succeeded was triggered; null where none ever did.",
      last_succeeded_build_id: "That build; null where none ever did.",
      error_class: "The error class of the last failure.",
      error_fingerprint: "The fingerprint of the last failure.",
      output_excerpt: "The error line of the last failure.",
    },
  },
  recoveries: {
    answers:
      "How long did it take to mend what broke? One row a streak of failures of a series, from its first failure to the next success; those not mended yet are open.",
    columns: {
      ...SERIES,
      failures: "Finished builds that failed in a row.",
      first_failed_build_id: "The failure that began the streak.",
      failed_at: "When that build was triggered.",
      failed_after: "It finished after this moment; null where nothing is known.",
      failed_before: "It was seen finished at this moment.",
      recovered_build_id: "The success that ended the streak; null while there is none.",
      recovered_at: "When that build was triggered; null while there is none.",
      recovered_after: "It finished after this moment; null while there is none, or nothing is known.",
      recovered_before: "It was seen finished at this moment; null while there is none.",
      recovery_s_min:
        "From the end of the first failure to the end of the success it took at least so many seconds; while it is open, so many have passed by the last sync at least.",
      recovery_s_max: "It took at most so many seconds; null while it is open, or where no bound is known.",
      is_open: "True while no later build of the series has succeeded.",
      is_overlapped:
        "True where the success may have finished before the failure did though it was triggered later.",
      error_class: "The error class of the first failure.",
    },
  },
  instability: {
    answers:
      "Which series change between success and failure, and is that more than chance? One row a series with two finished builds or more, over its last 20.",
    columns: {
      ...SERIES,
      finished: "Finished builds looked at, 20 at most.",
      succeeded: "Those among them that succeeded.",
      failed: "Those among them that failed.",
      flips: "How often the result differs from the one before.",
      flip_rate: "flips / (finished - 1).",
      flip_rate_by_chance:
        "2p(1-p), p the share that succeeded: the flip rate to expect when results were thrown like dice. Only far above it is a series restless.",
    },
  },
  open_builds: {
    answers: "Which builds have not finished? One row a build, the stuck ones too.",
    columns: OPEN_BUILD,
  },
  stuck_builds: {
    answers:
      "Which builds hang? One row an open build that was older than DOCMIRROR_STUCK_AFTER when it was last seen.",
    columns: OPEN_BUILD,
  },
  incident_hours: {
    answers:
      "When was it the platform's fault? One row an hour in which far more projects failed than their own base rates allow. It looks at all builds: on a large mirror it may lag the other answers by some minutes.",
    columns: {
      hour: "The UTC hour in which the builds were triggered.",
      projects: "Projects with a finished build of that hour; 8 at least.",
      projects_failing: "Those among them with a failed one.",
      projects_expected: "How many would fail by the rates of these projects in all other hours.",
      probability:
        "The chance of as many failing or more, by a binomial tail; hours up to 0.00001 are listed.",
      builds: "Finished builds of the hour.",
      failed: "Those among them that failed.",
    },
  },
  error_classes: {
    answers:
      "What do builds fail of? One row a class and fingerprint of failures, ranked by the projects hit.",
    columns: {
      rank: "1 for the one that hits the most projects; then by failures.",
      error_class: "The class that the rules of error_rules give.",
      error_fingerprint: "What such failures have in common (fact_builds).",
      example: "The error line of the newest of them.",
      failures: "Builds that failed so.",
      failure_share: "Their share of all failures, 0 to 1.",
      projects: "Projects hit; the unknown one does not count.",
      project_share: "Their share of all projects with a failure, 0 to 1.",
      first_triggered_at: "When the first of them was triggered.",
      last_triggered_at: "When the last of them was triggered.",
      last_build_id: "The last of them.",
    },
  },
  error_rules: {
    answers:
      "By which rules are failures classified? Yours to edit; `docmirror reclassify` applies them to what is stored. The first rule that matches counts.",
    columns: {
      order: "Primary key: lower ones are tried first.",
      pattern:
        "A POSIX regular expression as Postgres reads it, without regard to case, held against the error line.",
      class: "What a failure is called that matches.",
      note: "Why the rule is there.",
    },
  },
  project_activity: {
    answers: "Who builds how much? One row a project and ISO week with builds.",
    columns: {
      ...PROJECT,
      week: "The Monday of the ISO week in which the builds were triggered.",
      iso_week: "Its name, such as 2026-W47.",
      ...RATE,
      active_days: "Days of the week with a build.",
      failure_days: "Days of the week with a failed one.",
    },
  },
  freshness: {
    answers: "How current is the mirror? One row a resource.",
    columns: {
      resource: "user, project, version, build or file.",
      last_good_at:
        "When the newest good walk of its list ended: it read the whole list, or joined at the head with counts that agree. Null where there is none.",
      current_through:
        "When that walk began: whatever happened upstream before is in the mirror. Null where none did.",
      lag_s: "Seconds from then to now; null where a wrong clock dated it ahead of now.",
      last_walk: "How that walk ended: whole (all records read) or head (all new ones); null where none did.",
      last_whole_at: "When the last walk that read the whole list ended; null where none did.",
      last_attempt_at: "When the last walk of any end began; null where there was none.",
      is_whole: "True when the last walk that ended was a good one.",
      records: "Records that upstream still has, as of the last refresh.",
      deleted_records: "Records that upstream has no longer, as of the last refresh.",
      quarantined: "Records that came but could not be stored, and wait in quarantine.",
      refreshed_at: "When the answers of this schema were last computed.",
      deficit:
        "How many records more upstream counted than are here, when the head of the list was last read; below 0, how many fewer. Null where the whole list was read.",
      mirror_last_good_at:
        "The earliest last_good_at of all lists, the same in each row: the mirror is as fresh as its oldest list. Null while one was never read well.",
      mirror_current_through: "The earliest current_through of all lists, the same in each row.",
    },
  },
  runs: {
    answers:
      "What did docmirror do? One row a run: a sync, a round of the watch, or a retry of the quarantine.",
    columns: {
      run_id: "Its number; the payload of NOTIFY docmirror_run.",
      kind: "full, incremental, watch or quarantine.",
      status: "running, succeeded, partial, failed or interrupted.",
      started_at: "When it began.",
      finished_at: "When it ended; null while it runs.",
      duration_s: "How many seconds it took; null while it runs.",
      requests: "Requests sent.",
      bytes: "Bytes received.",
      pages: "Pages of lists read.",
      records: "Records met in them.",
      inserted: "Records that were new.",
      updated: "Records that had changed.",
      deleted: "Records found to be gone.",
      restored: "Records that were gone and came back.",
      quarantined: "Records that could not be stored.",
      transitions: "States that builds were seen to enter.",
      warnings: "How many warnings it gave; `docmirror sync --json` tells them.",
      error: "What ended it early; null where nothing did.",
      unfinished:
        "Records that it had to look at and did not come to: deletions to confirm, references to ask for, open builds to poll. Null in runs of older versions.",
    },
  },
  data_dictionary: {
    answers: "What does each column mean? One row a column of this schema, from the comments of the catalog.",
    columns: {
      relation: "The table or view.",
      relation_comment: "What it answers.",
      position: "The column's place in it, from 1.",
      column_name: "The column.",
      data_type: "Its type, as Postgres names it.",
      description: "What it means.",
    },
  },
} as const satisfies Record<string, RelationEntry>;

export type Relation = keyof typeof DICTIONARY;

/** All relations of schema `report`, in the order of the dictionary. */
export const RELATIONS = Object.keys(DICTIONARY) as Relation[];
