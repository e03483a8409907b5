import { BROKE, INSTABILITY, REFERENCE, SERIES } from "./shared-columns.ts";

/** What broke, how long it stayed so, and what breaks again and again. */
export const BROKEN_AND_FIXED = {
  recoveries: {
    answers: "How long did repairs take? One row per streak of failures of a series, up to the next success.",
    columns: {
      ...SERIES,
      failures: "Consecutive finished builds that failed.",
      first_failed_build_id: "The first of these failures.",
      failed_at: "The same as broke_at, under its older name.",
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
      broke_at: "When the first failure was triggered; null where it has no date.",
      hours_to_recover:
        "From broke_at to recovered_at, in hours; null while the streak is open or a date is missing. Do not average it: see time_to_recover.",
      ...REFERENCE,
    },
  },
  time_to_recover: {
    answers:
      "How long until builds succeed again? One row for all streaks of failures, and one for each " +
      "project, type and month, and for each two or three of them. It may be minutes older than the " +
      "other answers.",
    columns: {
      project_id: "The project's id; null in rows about all projects.",
      project_slug: "The project's slug; null in rows about all projects.",
      type: "The build's type; null in rows about all types.",
      month: "The month in which the streaks began, such as 2026-11; null in rows about all months.",
      streaks: "Streaks of failures, open ones included, without those whose first failure has no date.",
      recovered: "Those that ended with a success.",
      still_open: "Those without a success yet: streaks minus recovered.",
      median_hours:
        "The shortest time after which at most half are still broken, in hours from trigger to trigger, " +
        "as Kaplan and Meier (1958) estimate it: an open streak counts for as long as it is known to be " +
        "broken, up to the last sync, or the deletion of its project or version. Null where more than " +
        "half are not known to end.",
      p25_hours: "The same for a quarter recovered: at most three quarters are still broken.",
      p75_hours: "The same for three quarters recovered: at most a quarter is still broken.",
      closed_median_hours:
        "The median of recovered streaks alone. It is too short, because long repairs are still under way; compare it with median_hours.",
    },
  },
  instability: {
    answers:
      "Which series change between success and failure, and is that more than chance? One row per series with two finished builds or more, over its last 20.",
    columns: INSTABILITY,
  },
  flaky_series: {
    answers:
      "Which series change between success and failure more often than by chance? One row per series of instability where is_flaky.",
    columns: INSTABILITY,
  },
  broke_weekly: {
    answers: "What broke and what was fixed in each week? One row per ISO week, as in success_rate_weekly.",
    columns: {
      week: "The Monday of the ISO week.",
      iso_week: "That week, such as 2026-W47.",
      ...BROKE("week"),
    },
  },
  broke_daily: {
    answers: "What broke and what was fixed on each day? One row per UTC day, as in success_rate_daily.",
    columns: { day: "The UTC day.", ...BROKE("day") },
  },
} as const;
