import { COVERAGE, PROJECT, SERIES, TIMES, TYPE } from "./shared-columns.ts";

/** How long builds take, wait and work. */
export const DURATIONS = {
  build_times_daily: {
    answers:
      "How long do builds take? One row per UTC day. Each true percentile lies between its two bounds.",
    columns: {
      day: "The UTC day on which the builds were triggered.",
      ...TIMES("day"),
      is_complete: COVERAGE("day").is_complete,
      is_covered: "False where no sync has read the build list since the day began.",
    },
  },
  build_times_weekly_by_project: {
    answers:
      "How long do the builds of a project take? One row per project and ISO week in which a build was triggered that has finished.",
    columns: {
      week: "The Monday of the ISO week in which the builds were triggered.",
      iso_week: "That week, such as 2026-W47.",
      ...PROJECT,
      ...TIMES("week"),
    },
  },
  build_times_weekly_by_type: {
    answers:
      "How long do builds of each type take? One row per type and ISO week in which a build was " +
      "triggered that has finished. It may be minutes older than the other answers.",
    columns: {
      week: "The Monday of the ISO week in which the builds were triggered.",
      iso_week: "That week, such as 2026-W47.",
      ...TYPE,
      ...TIMES("week"),
    },
  },
  build_phases: {
    answers:
      "How long did a build wait, and how long did it work? One row per build that has finished or was " +
      "seen at work. Each true time lies between its two bounds.",
    columns: {
      build_id: "The build's id; no two rows have the same.",
      ...SERIES,
      outcome: "As in fact_builds.",
      triggered_at: "When it was triggered; null where it has no date.",
      triggered_on: "Its UTC day: key of dim_dates.",
      queued_s_min:
        "The shortest time in the state triggered, in seconds. The service names no queue: this is the nearest to it.",
      queued_s_max:
        "The longest such time; null where no upper bound is known. Work began at the first sight of " +
        "building or of an undocumented state such as cloning; where none was seen, at some moment " +
        "between the last sight of triggered and the finish.",
      building_s_min:
        "The shortest time from the start of work to the finish; null while it has not finished.",
      building_s_max:
        "The longest such time; null while it has not finished or no upper bound is known. Do not add it to queued_s_max: both may hold the same seconds.",
    },
  },
} as const;
