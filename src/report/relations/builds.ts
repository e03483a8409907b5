import { amount, moment, rollup } from "../../store/schema/columns.ts";
import { declareRelation, stored } from "../declare-relation.ts";
import {
  BY_DAY,
  BY_HOUR,
  COVERAGE,
  DAY,
  DELETED_AT,
  NONE_SENT,
  NOTHING_FINISHED,
  PROJECT,
  REFERENCE,
  SERIES_COLUMNS,
  TYPE,
  VERSION,
} from "./column-sentences.ts";

/** The builds that were open at the start of an hour; hours without any have no row. */
export const backlog = rollup.table("backlog", {
  hour: moment().primaryKey(),
  open_min: amount(),
  open_max: amount(),
});

export const BUILD_RELATIONS = {
  fact_builds: declareRelation({
    answers: "What is the result of each build? One row per build, deleted ones included.",
    columns: {
      build_id: "The build's id; no two rows have the same.",
      project_id: "Key of dim_projects; '-1' where the project is not in the mirror.",
      project_slug: PROJECT.project_slug,
      project_name: "The project's name.",
      version_id: "Key of dim_versions; '-1' where the version is not known.",
      version_slug: VERSION.version_slug,
      version_name: `The version's name as its repository spells it; ${NONE_SENT}.`,
      ...TYPE,
      is_main: "Whether it is of the main documentation: html of its project's default version.",
      state:
        "The state as the service last sent it; null where it has none. triggered, building and finished are documented.",
      outcome:
        "succeeded; failed; open; stuck (open for longer than DOCMIRROR_STUCK_AFTER when last seen); " +
        "vanished (gone before it was seen to end); cancelled (ended as neither: docs/builds.md lists these states); " +
        "unknown_state (finished without a result; or not yet stuck, without a state or in one that nobody knows).",
      succeeded: "1 where it succeeded, 0 where it failed, null while not known.",
      failed: "1 where it failed, 0 where it succeeded, null while not known.",
      triggered_at:
        "When it was triggered: its date, read in DOCMIRROR_SOURCE_TIMEZONE; null where it has none.",
      triggered_on: "Its UTC day: key of dim_dates; null where it has none.",
      triggered_week: "The Monday of that day's ISO week; null without a day.",
      triggered_iso_week: "That week, such as 2026-W47; null without a day.",
      triggered_month: "That day's month, such as 2026-11; null without a day.",
      is_time_ambiguous:
        "True where summer time repeats or skips that hour: triggered_at may be wrong by an hour, as the later of the two is taken.",
      finished_after:
        "It finished, or was cancelled, after this moment; null while it is open or nothing is known.",
      finished_before: "It was seen to have ended at this moment; null while it is open.",
      duration_s_min:
        "The shortest time from trigger to finish, in seconds; null while it has not finished, and where it was cancelled.",
      duration_s_max:
        "The longest time from trigger to finish; of a build from before the mirror its age when first seen. " +
        "Null while it has not finished or no upper bound is known.",
      duration_s:
        "The middle of duration_s_min and duration_s_max, where they are at most 60 s or a quarter of duration_s_max apart; else null.",
      queued_s_min:
        "The shortest time in the state triggered, in seconds: the service names no queue, and this is the nearest to it. " +
        "Null while it has neither finished nor was seen at work (a cancelling is no work); so are queued_s_max, building_s_min and building_s_max.",
      queued_s_max:
        "The longest such time; null where no upper bound is known. Work began at the first sight of " +
        "building or of an undocumented state such as cloning; where none was seen, at some moment " +
        "between the last sight of triggered and the finish.",
      building_s_min:
        "The shortest time from the start of work to the finish; null while it has not finished, and where it was cancelled.",
      building_s_max:
        "The longest such time; null while it has not finished or no upper bound is known. Do not add it to queued_s_max: both may hold the same seconds.",
      error_class:
        "The class that error_rules give the error line of a failed build, or unclassified; null for others.",
      error_fingerprint:
        "16 hex digits, the same for error lines that differ only in quoted names, packages, modules, " +
        "files, versions, hashes, numbers, dates and URLs; null for builds that did not fail.",
      error_line_id:
        "16 hex digits, the same for builds with the same error: their lines differ at most in paths, numbers, hashes " +
        "and dates. See error_lines. Null for builds that did not fail.",
      error_line:
        "The error line of a failed build, with the next line where it ends in a colon, at most 400 characters; null where there is none.",
      first_seen_at: "When the mirror first saw it.",
      deleted_at: DELETED_AT,
      is_settled:
        "False while the build is open and not stuck, whatever its state, or without one; days and weeks are complete " +
        "without such builds. A stuck build counts as settled, although the service may still close it.",
      ...REFERENCE,
      is_dated_ahead:
        "True where the service dates it beyond tomorrow. Until its day is tomorrow it counts as a build without a date.",
      fact_updated_at: "When this row last changed, names and is_main aside.",
      updated_at:
        "When this row last changed, is_main and its project's and its version's names included: so the rows that are newer " +
        "than a copy are all that changed.",
    },
    key: ["build_id"],
    time: "triggered_at",
    day: "triggered_on",
    order: ["triggered_on desc nulls last", "triggered_at desc nulls last", "build_id desc"],
    answer: ["build_id", "project_slug", "version_slug", "type", "outcome", "triggered_at", "error_class"],
    resource: "build",
  }),
  fact_months: declareRelation({
    answers:
      "Which months of fact_builds changed? One row per month that ever had a build, and one for builds without a date.",
    columns: {
      month: "As triggered_month of fact_builds; null for builds without a date.",
      revision:
        "A number that changes with each change of a row of this month, names aside: these are in the dimensions. Equal revisions mean equal facts.",
    },
    key: ["month"],
    nullable: ["month"],
    order: ["month desc nulls last"],
    answer: ["month", "revision"],
    isDrawn: false,
  }),
  build_times_daily: declareRelation({
    answers:
      "How long do builds take? One row per UTC day. Each true percentile lies between its two bounds.",
    columns: {
      ...DAY,
      finished: "Finished builds of the day, with any result; the percentiles are over these.",
      p50_s_min: `The median of the lower bounds, in seconds; ${NOTHING_FINISHED}.`,
      p50_s_max: "The median of the upper bounds; null where none is known.",
      p90_s_min: `The 90th percentile of the lower bounds; ${NOTHING_FINISHED}.`,
      p90_s_max: "The 90th percentile of the upper bounds; null where none is known.",
      p95_s_min: `The 95th percentile of the lower bounds; ${NOTHING_FINISHED}.`,
      p95_s_max: "The 95th percentile of the upper bounds; null where none is known.",
      ...COVERAGE,
      p50_s:
        "The median in seconds where its bounds are within a tenth of each other, else null: the one to take.",
      p90_s: "The 90th percentile, or null, likewise.",
      p95_s: "The 95th percentile, or null, likewise.",
    },
    ...BY_DAY,
    answer: ["day", "finished", "p50_s", "p90_s", "p95_s", "p95_s_min", "p95_s_max", "is_complete"],
  }),
  log_sizes: declareRelation({
    answers:
      "How large are the logs of builds? One row per build whose log is in the database, of 0 bytes where it is empty.",
    columns: {
      build_id: "Key of fact_builds.",
      log_bytes: "The bytes of all its texts, in UTF-8.",
      setup_bytes: "Those of setup.",
      setup_error_bytes: "Those of setup_error.",
      output_bytes: "Those of output.",
      error_bytes: "Those of error.",
    },
    key: ["build_id"],
    order: ["log_bytes desc", "build_id"],
    answer: ["build_id", "log_bytes", "setup_bytes", "output_bytes", "error_bytes"],
  }),
  open_builds: declareRelation({
    answers: "Which builds have not ended? One row per build, stuck ones and those without a state included.",
    columns: {
      build_id: "The build's id; see `docmirror explain build ID`.",
      ...SERIES_COLUMNS,
      state: "The state in which it was last seen; null where it has none.",
      outcome: "open, stuck, or unknown_state: not yet stuck, without a state or in one that nobody knows.",
      triggered_at: "When it was triggered; null where it has no date.",
      last_seen_at: "When it was last seen in this state.",
      age_s: "Its age in seconds when last seen, from its date or its first sighting, whichever is earlier.",
    },
    key: ["build_id"],
    time: "triggered_at",
    order: ["age_s desc nulls last", "build_id"],
    answer: ["build_id", "project_slug", "version_slug", "state", "age_s", "triggered_at", "type"],
  }),
  backlog: declareRelation({
    answers:
      "How many builds wait or work at a time? One row per UTC hour from the first build to the last " +
      "hour that a sync has covered.",
    columns: {
      hour: "The start of the UTC hour: the moment that is counted. The first one is that of the earliest date since 2000.",
      open_min:
        "Builds that were surely open: seen before, and seen open again later, or a later bound of their finish says so.",
      open_max:
        "Builds that may have been open: from their date (an hour earlier where is_time_ambiguous), or " +
        "their first sighting where that is earlier or all there is, until they were seen finished or " +
        "gone. Stuck ones count to this day.",
      is_covered:
        "False where no sync has read the build list since that moment. Such hours are there only where a known build may have been open. " +
        "Before the mirror began open_max counts each build whose finish was not seen: ask where the two are near each other.",
    },
    ...BY_HOUR,
    answer: ["hour", "open_min", "open_max", "is_covered"],
    stored: stored(backlog),
  }),
  arrivals: declareRelation({
    answers:
      "Do builds arrive as usual? One row, as of looked_at. The days to compare with are the 28 before the last build.",
    columns: {
      looked_at:
        "Up to when the service's builds are known: all else is as of then. Null before the builds were read whole.",
      state:
        "quiet: none came for more than twice the longest gap, and 10 or more are usual in that time. late: the " +
        "same for more than the longest gap. few: in the 24 hours fewer came than on any of the days, and 10 or " +
        "more are usual. usual: neither. dormant: none came for 28 days, so nothing is expected any more. " +
        "unknown: see reason.",
      reason:
        "Why the state is unknown. not_read: the builds were never read whole. no_builds: none has a date. " +
        "too_few_days: fewer than 14 days are known. clock: dates of builds and the mirror's clock disagree, " +
        "perhaps by a wrong DOCMIRROR_SOURCE_TIMEZONE. Else null.",
      last_build_id: "The last build: the one triggered last before looked_at; null where there is none.",
      last_build_at: "When it was triggered; null without one.",
      gap_s: "Seconds from then to looked_at; null without one.",
      longest_gap_s:
        "The longest time between two builds of those days, in seconds; 60 where it was less, null where none is known.",
      days_known: "How many whole days before the last build are known, at most 28.",
      usual_since:
        "Builds that usually come in the gap, or in its first 24 hours: the median of the same hours of the same weekday of the last weeks; " +
        "null where fewer than 7 days are known.",
      fewest_since:
        "The fewest that came in those hours on any of the days; null where no whole day is known.",
      most_since: "The most that came in those hours on any of the days; null where no whole day is known.",
      builds_24h: "Builds triggered in the 24 hours before looked_at.",
      usual_24h:
        "How many that usually are, by the same weekday of the last weeks; null where fewer than 8 days are known.",
      fewest_24h: "The fewest in such 24 hours of any of the days; null where fewer than 2 days are known.",
      state_now: "state where the mirror looked within 5 minutes of now, else unknown.",
    },
    key: ["state"],
    order: ["looked_at"],
    answer: ["state", "reason", "looked_at", "last_build_at", "builds_24h", "usual_24h"],
  }),
  arrivals_hourly: declareRelation({
    answers:
      "How many builds came in each of the last 24 hours, and how many usually do? The last hour ends when the mirror looked.",
    columns: {
      hour: "When the hour began.",
      builds: "Builds triggered in it.",
      usual_low:
        "The 10th percentile of that hour on the days of arrivals, working days and weekends apart; null where fewer than 14 days are known.",
      usual_high: "The 90th percentile of the same, or null.",
      until: "When it ended: the last hour when the mirror looked.",
    },
    ...BY_HOUR,
    answer: ["hour", "builds", "usual_low", "usual_high"],
  }),
};
