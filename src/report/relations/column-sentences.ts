/** The sentences of columns that several relations of schema `report` have, and pieces of them. */
export const NONE_SENT = "null where none is sent";
export const NONE_DATED = "null where none has a date";
export const NOTHING_FINISHED = "null where nothing finished";
export const NOT_SENT = "null where that is not sent";
export const FIRST_SEEN_AT =
  "When the mirror first saw it. Up to known_since of its list, in freshness, that says nothing of when it was made.";
export const DELETED_AT = "When the mirror found it deleted; null while it exists.";

export const PROJECT = {
  project_id: "The project's id; '-1' where the build's project is not in the mirror.",
  project_slug: "The project's slug; '(unknown)' where it is not in the mirror.",
} as const;

export const VERSION = {
  version_id:
    "The version's id, also where the service no longer names it because it was deleted; '-1' where it is not known.",
  version_slug: "The version's slug, such as latest; '(unknown)' where it is not known.",
} as const;

export const TYPE = {
  type: "The build's type, as sent: html, pdf, …; '(none)' where there is none.",
} as const;

export const SERIES_COLUMNS = { ...PROJECT, ...VERSION, ...TYPE } as const;

export const MAIN = {
  is_main: "Whether this is the main documentation: html of the default version.",
} as const;

export const REFERENCE = {
  reference:
    "What builds call a project or version that the mirror lacks, so that unknown ones stay apart; " +
    "'(none)' where a build names no version, which may be one of any series. Null where nothing unknown is named.",
} as const;

export const RATE = {
  builds: "Builds triggered, unfinished ones included.",
  finished: "Builds with a known result: succeeded and failed. Rates are shares of these.",
  succeeded: "Finished builds that succeeded.",
  failed: "Finished builds that failed.",
  success_rate: "succeeded / finished, 0 to 1; null where nothing finished. Do not average it: divide sums.",
  success_rate_low:
    "Lower end of the 95 % Wilson interval of success_rate; null where nothing finished. Few builds give a wide one.",
  success_rate_high: `Upper end of that interval; ${NOTHING_FINISHED}.`,
} as const;

export const PROJECT_MEAN = {
  success_rate_project_mean:
    "The mean of the projects' success rates, without the unknown project; null where none has one.",
} as const;

export const UNFINISHED = {
  unfinished: "Builds without a known result that were not cancelled: builds minus finished minus cancelled.",
} as const;

export const CANCELLED = {
  cancelled:
    "Builds that ended neither as a success nor as a failure, such as cancelled ones. No rate counts them.",
} as const;

export const DAY = { day: "The UTC day on which the builds were triggered." } as const;

/** What a relation that has a row for each day is declared with. */
export const BY_DAY = {
  key: ["day"],
  time: { column: "day", span: "day" },
  order: ["day desc"],
} as const;

/** For relations that have a row for each day. */
export const COVERAGE = {
  is_complete:
    "True when the day is over, a sync has read past its end, and none of its builds is open but stuck ones. " +
    "The service may still close its stuck builds, and then the rate changes: see stuck. False for the first " +
    "day, of which the service may list a part only, so a first week or month is not complete either. " +
    "Days before freshness.known_since lack what was deleted by then.",
  is_covered:
    "False where no sync has read the build list since the day began. Counts are then null, not 0, unless builds are known.",
} as const;

export const STUCK = {
  stuck:
    "Builds among the unfinished that were open for longer than DOCMIRROR_STUCK_AFTER when last seen, in any state. " +
    "The service closes most of them later, as failed.",
} as const;

/** For rows of all failures with something in common, such as their class. */
export const failureColumns = (common: string) =>
  ({
    example: "The error line of the newest of them; null where there is none.",
    failures: `Failed builds of this ${common}.`,
    failure_share: "Their share of all failures, 0 to 1.",
    projects:
      "Projects with such a failure, without the unknown one. A project may be in several rows: do not add them up.",
    project_share: "Their share of all projects with a failure, 0 to 1; null where no known project has one.",
    first_triggered_at: `When the first of them was triggered; ${NONE_DATED}.`,
    last_triggered_at: `When the last of them was triggered; ${NONE_DATED}.`,
    last_build_id: "The last of them.",
    failures_last_7_days:
      "Those of the last seven UTC days, which end with the day up to which the build list was read; builds without a date count in no span.",
    failures_7_days_before: "Those of the seven days before.",
    projects_last_7_days: "Projects with such a failure in the last seven days, without the unknown one.",
    projects_7_days_before: "The same for the seven days before.",
  }) as const;
