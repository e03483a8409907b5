import { boolean, doublePrecision, integer, primaryKey, text } from "drizzle-orm/pg-core";
import { amount, idText, moment, rollup } from "../../store/schema/columns.ts";
import { declareRelation, stored } from "../declare-relation.ts";
import {
  BY_DAY,
  BY_HOUR,
  COVERAGE,
  NONE_DATED,
  PROJECT,
  RATE,
  REFERENCE,
  SERIES_COLUMNS,
} from "./column-sentences.ts";

/** Hours in which eight projects or more had a build that finished. */
export const hours = rollup.table("hours", {
  hour: moment().primaryKey(),
  projects: amount(),
  projects_failing: amount(),
  projects_expected: doublePrecision().notNull(),
  probability: doublePrecision().notNull(),
  builds: amount(),
  failed: amount(),
});

/** The lengths of streaks of failures: for each choice of project, type and month, and for all of them. */
export const recoveryTimes = rollup.table(
  "recovery_times",
  {
    by_project: boolean().notNull(),
    by_type: boolean().notNull(),
    by_month: boolean().notNull(),
    /** Empty where the row is not by project; so are the others. */
    project_id: idText().notNull(),
    type: text().notNull(),
    month: text().notNull(),
    streaks: amount(),
    recovered: amount(),
    median_hours: doublePrecision(),
    p25_hours: doublePrecision(),
    p75_hours: doublePrecision(),
    closed_median_hours: doublePrecision(),
    /** Those of series that had worked, with their times; an older program leaves them empty. */
    breaks: integer(),
    breaks_recovered: integer(),
    breaks_median_hours: doublePrecision(),
    breaks_p25_hours: doublePrecision(),
  },
  (table) => [
    primaryKey({
      name: "recovery_times_pk",
      columns: [table.by_project, table.by_type, table.by_month, table.project_id, table.type, table.month],
    }),
  ],
);

const NOTHING_KNOWN = "null where nothing is known";

const MAIN = {
  is_main: "Whether this is the main documentation: html of the default version.",
} as const;

/** A streak of failures that is under way, as the last of it left it. */
const UNDER_WAY = {
  failures: "Consecutive finished builds of the series that failed.",
  failing_since:
    "When the first of them was triggered; null where it has no date. Where no success is known, the series may have failed for longer.",
  first_failed_build_id: "The first of these failures.",
  last_failed_at: "When the last of them was triggered; null where it has no date.",
  last_failed_build_id: "The last of them.",
  last_succeeded_at:
    "When the last build of the series that succeeded was triggered; null where none did, or it has no date.",
  last_succeeded_build_id: "That build; null where none did.",
} as const;

const LAST_ERROR = {
  error_class: "The error class of the last failure.",
  error_fingerprint: "The fingerprint of the last failure.",
  error_line: "The error line of the last failure; null where there is none.",
} as const;

/** The columns of a streak of failures, up to the next success. */
const STREAK_COLUMNS = {
  ...SERIES_COLUMNS,
  failures: "Consecutive finished builds that failed.",
  first_failed_build_id: "The first of these failures.",
  broke_at: "When it was triggered; null where it has no date.",
  failed_after: `The first failure finished after this moment; ${NOTHING_KNOWN}.`,
  failed_before: `The first failure was seen finished at this moment; ${NOTHING_KNOWN}.`,
  recovered_build_id: "The success that ended the streak; null while there is none.",
  recovered_at: "When that success was triggered; null while there is none, or where it has no date.",
  recovered_after: `That success finished after this moment; ${NOTHING_KNOWN}.`,
  recovered_before: `That success was seen finished at this moment; ${NOTHING_KNOWN}.`,
  hours_to_recover:
    "From broke_at to recovered_at, in hours; null while the streak is open or a date is missing. Do not average it: see time_to_recover.",
  recovery_s_min:
    "The shortest time between the ends of the first failure and of the success, in seconds; of an open streak, between that failure and the last sync.",
  recovery_s_max: "The longest such time; null while the streak is open or no bound is known.",
  is_open: "True while no later build of the series has succeeded.",
  is_overlapped: "True where the success was triggered after the failure, but may have finished before it.",
  error_class: "The error class of the first failure.",
  worked_before: "Whether a build of the series had succeeded before: else it was born broken.",
  ...REFERENCE,
  ...MAIN,
} as const;

const BY_STREAK = {
  key: ["first_failed_build_id"],
  time: "broke_at",
  order: ["broke_at desc nulls last", "first_failed_build_id desc"],
  answer: ["project_slug", "version_slug", "type", "broke_at", "hours_to_recover", "is_open"],
} as const;

export const FAILURE_RELATIONS = {
  failing_now: declareRelation({
    answers:
      "What fails now? One row per series (project, version, type) whose last finished build failed, without deleted projects and versions.",
    columns: {
      ...SERIES_COLUMNS,
      ...MAIN,
      is_default_version: "Whether the version is its project's default one: see is_main of dim_versions.",
      is_active: "Whether the version's documentation is kept up to date; null where that is not known.",
      ...UNDER_WAY,
      last_built_at: `When the last build of the series was triggered, whatever became of it; ${NONE_DATED}.`,
      ...LAST_ERROR,
      ...REFERENCE,
    },
    key: ["first_failed_build_id"],
    time: "failing_since",
    order: [
      "is_main desc",
      "is_default_version desc",
      "is_active desc nulls last",
      "failing_since desc nulls last",
      "project_slug",
      "project_id",
      "version_slug",
      "version_id",
      "type",
      "first_failed_build_id",
    ],
    answer: [
      "project_slug",
      "version_slug",
      "type",
      "failures",
      "failing_since",
      "error_class",
      "error_line",
    ],
  }),
  failing_projects: declareRelation({
    answers:
      "Which projects fail now, and what is worst in each? One row per project of failing_now, and one for all unknown " +
      "projects: its worst series (main documentation first, then what worked before, then the longest), how many fail, and since when.",
    columns: {
      ...SERIES_COLUMNS,
      ...MAIN,
      ...UNDER_WAY,
      ...LAST_ERROR,
      failing: "How many series of the project fail, this one included.",
      is_main_failing: "Whether its main documentation fails, now or for longer.",
      main_failing_since: "When that began to fail; null where it does not fail, or has no date.",
      worked_before:
        "Whether any series that fails has ever succeeded. It says nothing of those that do not fail now.",
      newest_failing_since: `When the newest of its failures began; ${NONE_DATED}.`,
      oldest_failing_since:
        "When the oldest of its failures began: failing_since is that of the worst series, and may be later. Null where none has a date.",
    },
    key: ["project_id"],
    time: "newest_failing_since",
    order: ["newest_failing_since desc nulls last", "project_slug", "project_id"],
    answer: [
      "project_slug",
      "version_slug",
      "type",
      "failing_since",
      "newest_failing_since",
      "failing",
      "error_class",
      "error_line",
    ],
  }),
  project_states: declareRelation({
    answers:
      "Which projects are good, and which fail? One row per project that the service still has, with its worst failure and its last success.",
    columns: {
      ...PROJECT,
      project_name: "The project's name; the slug where it has none.",
      state:
        "main_failing: html of the default version fails; failing: another series fails; good: the last " +
        "finished build of each series succeeded; unknown: no version that exists has a finished build.",
      failing: "How many of its series fail now, as in failing_now.",
      failing_since:
        "When the worst of these began to fail, in the order of failing_projects; null where nothing fails, or it has no date.",
      newest_failing_since:
        "When the newest of these failures began; null where nothing fails, or none has a date.",
      main_failing_since:
        "When its main documentation began to fail; null where it does not, or that has no date.",
      stuck: "Its builds that are stuck, as in open_builds.",
      ...RATE,
      last_triggered_at:
        "When its last build was triggered; null where it has no build, or none with a date.",
      oldest_failing_since:
        "When the oldest of its failures began; null where nothing fails, or none has a date.",
      last_succeeded_at:
        "When its last build that succeeded was triggered, of whatever version and type; null where none did, or none with a date.",
      main_state:
        "good or failing, by the last finished build of its main documentation; unknown where html of its default version never finished.",
    },
    key: ["project_id"],
    order: ["project_slug", "project_id"],
    answer: ["project_slug", "state", "failing", "failing_since", "finished", "success_rate"],
  }),
  streaks: declareRelation({
    answers:
      "What failed, from when to when? One row per streak of failures of a series, up to the next success, also of projects and " +
      "versions that were deleted since.",
    columns: {
      ...STREAK_COLUMNS,
      is_deleted:
        "True where its project or version is deleted: such a streak is over, also where it is_open.",
      series_since:
        "When the first known build of its series was triggered; null where none has a date. Compare only series that were known in both spans.",
    },
    ...BY_STREAK,
  }),
  recoveries: declareRelation({
    answers:
      "How long did repairs take? One row per streak of failures of a series, up to the next success, without those that the " +
      "deletion of their project or version ended.",
    columns: STREAK_COLUMNS,
    ...BY_STREAK,
  }),
  time_to_recover: declareRelation({
    answers:
      "How long until builds succeed again? One row for all streaks of failures, and one for each " +
      "project, type and month, and for each two or three of them. For repairs take breaks and the columns " +
      "behind it: most series that never worked never recover.",
    columns: {
      project_id: "The project's id; null in rows about all projects.",
      project_slug: "The project's slug; null in rows about all projects.",
      type: "The build's type; null in rows about all types.",
      month: "The month in which the streaks began, such as 2026-11; null in rows about all months.",
      streaks:
        "Streaks of failures, open and born broken ones included, without those whose first failure has no date.",
      recovered: "Those that ended with a success.",
      still_open: "Those without a success yet: streaks minus recovered.",
      median_hours:
        "The shortest time after which at most half are still broken, in hours from trigger to trigger, " +
        "as Kaplan and Meier (1958) estimate it: an open streak counts for as long as it is known to be " +
        "broken, up to the last sync, or the deletion of its project or version. Null where more than " +
        "half are not known to end.",
      p25_hours:
        "The same for a quarter recovered: at most three quarters are still broken; null where fewer are known to end.",
      p75_hours:
        "The same for three quarters recovered: at most a quarter is still broken; null where fewer are known to end.",
      closed_median_hours:
        "The median of recovered streaks alone, the shorter of the two in the middle. It is too short, because long repairs are still under way; " +
        "compare it with median_hours. Null where none recovered.",
      breaks:
        "Those of the streaks in series that had succeeded before, as in broke_daily. The others were born broken.",
      breaks_recovered: "Breaks that ended with a success.",
      breaks_median_hours:
        "median_hours of the breaks alone; null where more than half are not known to end.",
      breaks_p25_hours: "p25_hours of the breaks alone; null where fewer are known to end.",
    },
    key: ["project_id", "type", "month"],
    nullable: ["project_id", "type", "month"],
    order: [
      "project_id is not null",
      "type is not null",
      "month desc nulls first",
      "streaks desc",
      "type",
      "project_slug",
      "project_id",
    ],
    answer: [
      "project_slug",
      "type",
      "month",
      "breaks_median_hours",
      "breaks",
      "breaks_recovered",
      "median_hours",
      "streaks",
    ],
    stored: stored(recoveryTimes),
  }),
  instability: declareRelation({
    answers:
      "Which results are flaky? One row per series with two finished builds or more: how often its last 20 " +
      "change between success and failure, and whether that is more often than by chance.",
    columns: {
      ...SERIES_COLUMNS,
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
        "series up to a value, that share is expected to be there by chance. Null where p_value is.",
      is_flaky: "True where p_value_adjusted is at most 0.05.",
      ...REFERENCE,
    },
    key: ["project_id", "version_id", "type", "reference"],
    nullable: ["reference"],
    order: [
      "p_value nulls last",
      "flip_rate desc",
      "finished desc",
      "project_slug",
      "project_id",
      "version_slug",
      "version_id",
      "type",
      "reference",
    ],
    answer: ["project_slug", "version_slug", "type", "finished", "flips", "p_value", "p_value_adjusted"],
  }),
  broke_daily: declareRelation({
    answers: "What broke and what was fixed on each day? One row per UTC day, as in success_rate_daily.",
    columns: {
      day: "The UTC day on which the builds were triggered that showed it.",
      broke:
        "Streaks of failures that began on the day, in series that had succeeded before. In the first weeks of the known builds this is too low, " +
        "and born_broken too high.",
      fixed: "Streaks of failures that ended: by a success that was triggered on the day.",
      born_broken:
        "Series whose first finished build failed then, or the first that the service still lists. They are not in broke. " +
        "The page, notices and feeds call both broken.",
      projects_broke: "Projects with such a beginning, without the unknown one.",
      projects_fixed: "Projects with such an end.",
      projects_born_broken: "Projects with such a series.",
      ...COVERAGE,
    },
    ...BY_DAY,
    answer: ["day", "broke", "fixed", "born_broken", "projects_broke", "projects_fixed", "is_complete"],
  }),
  incident_hours: declareRelation({
    answers:
      "When was it the platform's fault? One row per hour in which far more projects failed than their " +
      "own rates predict. No row is no proof that the platform was well: where one in seven fails as a rule, " +
      "it takes some 8 of 9 projects, 12 of 20, 32 of 100.",
    columns: {
      hour: "The UTC hour in which the builds were triggered.",
      projects: "Projects with a finished build of that hour, at least 8.",
      projects_failing: "Projects with a failed build of that hour.",
      projects_expected:
        "How many projects would fail at their rates of all other hours, to which five at the rate of all projects are added.",
      probability: "The chance that so many or more fail (binomial), at most 0.00001.",
      builds: "Finished builds of the hour.",
      failed: "Failed builds of the hour.",
    },
    ...BY_HOUR,
    answer: ["hour", "projects", "projects_failing", "projects_expected", "probability"],
    stored: stored(hours),
  }),
};
