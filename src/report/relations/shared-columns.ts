/** Columns that several relations of schema `report` share. */
export const PROJECT = {
  project_id: "The project's id; '-1' where the build's project is not in the mirror.",
  project_slug: "The project's slug; '(unknown)' where it is not in the mirror.",
} as const;

export const VERSION = {
  version_id: "The version's id; '-1' where it is not known.",
  version_slug: "The version's slug, such as latest; '(unknown)' where it is not known.",
} as const;

export const TYPE = {
  type: "The build's type, as sent: html, pdf, …; '(none)' where there is none.",
} as const;

export const SERIES = { ...PROJECT, ...VERSION, ...TYPE } as const;

export const REFERENCE = {
  reference:
    "What builds call a project or version that the mirror lacks, so that unknown ones stay apart; " +
    "'(none)' where a build names neither. Null where nothing unknown is named.",
} as const;

const COUNTS = {
  builds: "Builds triggered, unfinished ones included.",
  finished: "Builds with a known result: succeeded and failed. Rates are shares of these.",
  succeeded: "Finished builds that succeeded.",
  failed: "Finished builds that failed.",
} as const;

export const RATE = {
  ...COUNTS,
  success_rate:
    "succeeded / finished, 0 to 1. Do not average it: divide sums. This and the other rates are null where nothing finished.",
  success_rate_low: "Lower end of the 95 % Wilson interval of success_rate; few builds give a wide one.",
  success_rate_high: "Upper end of that interval.",
} as const;

export const PROJECT_MEAN = {
  success_rate_project_mean: "The mean of the projects' success rates, without the unknown project.",
} as const;

export const UNFINISHED = {
  unfinished: "Builds without a known result: builds minus finished.",
} as const;

export const COVERAGE = (span: string) =>
  ({
    is_complete:
      `True when the ${span} is over, a sync has read past its end, and none of its builds is open. ` +
      "The service may still close its stuck builds, and then the rate changes: see stuck.",
    is_covered: `False where no sync has read the build list since the ${span} began. Counts are then null, not 0, except for known builds.`,
  }) as const;

/** The same where a span without builds has no row. */
export const BUILT = (span: string) =>
  ({
    is_complete: COVERAGE(span).is_complete,
    is_covered: `False where no sync has read the build list since the ${span} began: there may be more builds.`,
  }) as const;

export const INSTABILITY = {
  ...SERIES,
  finished: "Finished builds that count here, at most 20.",
  succeeded: "Those that succeeded.",
  failed: "Those that failed.",
  flips: "How often the result differs from the one before.",
  flip_rate: "flips / (finished - 1).",
  flip_rate_by_chance:
    "The flip rate that these results have on average in random order: 2 × succeeded × failed / (finished × (finished - 1)).",
  p_value:
    "The chance that random order gives as many flips or more, by the exact test of runs of Wald and " +
    "Wolfowitz (1940); null where all results are equal, because they cannot flip.",
  p_value_adjusted:
    "p_value, corrected for how many series were tried, as Benjamini and Hochberg (1995) do: among the " +
    "series up to a value, that share is expected to be there by chance.",
  is_flaky: "True where p_value_adjusted is at most 0.05.",
  ...REFERENCE,
} as const;

/** Counted by the triggers of the builds that showed it. */
export const BROKE = (span: string) =>
  ({
    broke: `Streaks of failures that began in the ${span}, in series that had succeeded before.`,
    fixed: `Streaks of failures that ended: by a success that was triggered in the ${span}.`,
    born_broken: "Series whose first finished build failed then. They are not in broke.",
    projects_broke: "Projects with such a beginning, without the unknown one.",
    projects_fixed: "Projects with such an end.",
    projects_born_broken: "Projects with such a series.",
    is_complete: `As in success_rate_${span === "day" ? "daily" : "weekly"}.`,
    is_covered: `False where no sync has read the build list since the ${span} began. Counts are then null, not 0, except for known builds.`,
  }) as const;

export const TIMES = (span: string) =>
  ({
    finished: `Finished builds of the ${span}, with any result; the percentiles are over these.`,
    p50_s_min: "The median of the lower bounds, in seconds; null where nothing finished.",
    p50_s_max: "The median of the upper bounds; null where none is known.",
    p90_s_min: "The 90th percentile of the lower bounds.",
    p90_s_max: "The 90th percentile of the upper bounds; null where none is known.",
    p95_s_min: "The 95th percentile of the lower bounds.",
    p95_s_max: "The 95th percentile of the upper bounds; null where none is known.",
  }) as const;

export const STUCK = {
  stuck:
    "Builds among the unfinished that were stuck when last seen. The service closes most of them later, as failed.",
} as const;

export const OPEN_BUILD = {
  build_id: "The build's id; see `docmirror explain build ID`.",
  ...SERIES,
  state: "The state in which it was last seen.",
  outcome: "open, stuck, or unknown_state where the state is not documented.",
  triggered_at: "When it was triggered; null where it has no date.",
  last_seen_at: "When it was last seen in this state.",
  age_s: "Its age in seconds when last seen, from its date or its first sighting, whichever is earlier.",
} as const;

/** What failures with something in common, such as their class, have as rows of all time. */
export const FAILURES = (common: string) =>
  ({
    example: "The error line of the newest of them.",
    failures: `Failed builds of this ${common}.`,
    failure_share: "Their share of all failures, 0 to 1.",
    projects: "Projects with such a failure, without the unknown one.",
    project_share: "Their share of all projects with a failure, 0 to 1.",
    first_triggered_at: "When the first of them was triggered.",
    last_triggered_at: "When the last of them was triggered.",
    last_build_id: "The last of them.",
    failures_last_7_days:
      "Those of the last seven UTC days, which end with the day up to which the build list was read; builds without a date count in no span.",
    failures_7_days_before: "Those of the seven days before.",
    projects_last_7_days: "Projects with such a failure in the last seven days, without the unknown one.",
    projects_7_days_before: "The same for the seven days before.",
  }) as const;
