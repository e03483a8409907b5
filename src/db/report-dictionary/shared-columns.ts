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
    "What builds call the project or version, where the mirror lacks it: it tells unknown ones apart; '(none)' where a build names neither. Null where nothing unknown is named.",
} as const;

export const COUNTS = {
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
    is_complete: `True when the ${span} is over, a sync has read past its end, and none of its builds is open. The service may still close its stuck builds, and then the rate changes: see stuck.`,
    is_covered: `False where no sync has read the build list since the ${span} began. Counts are then null, not 0, except for known builds.`,
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
