/** Columns that several relations of schema `report` share. */
export const PROJECT = {
  project_id: "The project's id; '-1' where the build's project is not in the mirror.",
  project_slug: "The project's slug, as in the URLs of its pages; '(unknown)' where it is not in the mirror.",
} as const;

export const VERSION = {
  version_id: "The version's id; '-1' where the build names none, or one that is not in the mirror.",
  version_slug: "The version's slug, such as latest; '(unknown)' where there is none.",
} as const;

export const TYPE = {
  type: "The type of the build, as the service sends it: html, pdf, epub, …; '(none)' where it sends none.",
} as const;

export const SERIES = { ...PROJECT, ...VERSION, ...TYPE } as const;

export const COUNTS = {
  builds: "Builds triggered, unfinished ones included.",
  finished:
    "Builds that finished with a known result: succeeded and failed together. Rates are shares of these.",
  succeeded: "Finished builds that succeeded.",
  failed: "Finished builds that failed.",
} as const;

export const RATE = {
  ...COUNTS,
  success_rate:
    "succeeded / finished, 0 to 1; every build counts the same. Null where nothing finished. Do not average it: divide sums.",
  success_rate_low:
    "Lower end of the 95 % Wilson interval of success_rate; few builds give a wide interval. Null where nothing finished.",
  success_rate_high: "Upper end of the 95 % Wilson interval of success_rate. Null where nothing finished.",
} as const;

export const PROJECT_MEAN = {
  success_rate_project_mean:
    "The mean of the projects' success rates; every project counts the same, the unknown one not at all. Null where nothing finished.",
} as const;

export const UNFINISHED = {
  unfinished: "Builds that have not finished, or finished without a known result: builds minus finished.",
} as const;

export const COVERAGE = (span: string) =>
  ({
    is_complete: `True when the ${span} is over, a sync has read past its end, and none of its builds can still change the rate.`,
    is_covered: `False where no sync has read the build list since the ${span} began. Counts are then null, not 0, except for builds that are known already.`,
  }) as const;

export const OPEN_BUILD = {
  build_id: "The build's id; `docmirror explain build ID` shows all that is known about it.",
  ...SERIES,
  state: "The state in which it was last seen, as the service sends it.",
  outcome: "open, stuck, or unknown_state where the service does not document the state.",
  triggered_at: "When it was triggered; null where the service gave no date.",
  last_seen_at: "When it was last seen in this state.",
  age_s:
    "Its age in seconds when it was last seen, from its date, or from its first sighting where that is earlier or it has no date. Its state since then is not known.",
} as const;
