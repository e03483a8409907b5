/** The sentences of columns that several relations of schema `report` have, and pieces of them. */
export const NONE_SENT = "null where none is sent";
export const NONE_DATED = "null where none has a date";
export const NOTHING_FINISHED = "null where nothing finished";
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

export const DAY = { day: "The UTC day on which the builds were triggered." } as const;

/** What a relation that has a row for each day is declared with. */
export const BY_DAY = {
  key: ["day"],
  time: "day",
  order: ["day desc"],
} as const;

/** The same for a row for each hour. */
export const BY_HOUR = { key: ["hour"], time: "hour", order: ["hour desc"] } as const;

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
