import { declareRelation } from "../declare-relation.ts";
import {
  BY_DAY,
  COVERAGE,
  DAY,
  NONE_DATED,
  NOTHING_FINISHED,
  PROJECT,
  RATE,
  TYPE,
} from "./column-sentences.ts";

const PROJECT_MEAN = {
  success_rate_project_mean:
    "The mean of the projects' success rates, without the unknown project; null where none has one.",
} as const;

const UNFINISHED = {
  unfinished: "Builds without a known result that were not cancelled: builds minus finished minus cancelled.",
} as const;

const CANCELLED = {
  cancelled:
    "Builds that ended neither as a success nor as a failure, such as cancelled ones. No rate counts them.",
} as const;

const STUCK = {
  stuck:
    "Builds among the unfinished that were open for longer than DOCMIRROR_STUCK_AFTER when last seen, in any state. " +
    "The service closes most of them later, as failed.",
} as const;

export const RATE_RELATIONS = {
  success_rate_daily: declareRelation({
    answers: "How often do builds succeed, day by day? One row per UTC day from the first build to today.",
    columns: {
      ...DAY,
      ...RATE,
      ...PROJECT_MEAN,
      projects: "Projects with such a build, without the unknown one.",
      ...UNFINISHED,
      ...COVERAGE,
      ...STUCK,
      ...CANCELLED,
    },
    ...BY_DAY,
    answer: ["day", "finished", "success_rate", "success_rate_low", "success_rate_high", "is_complete"],
  }),
  success_rate_daily_by_project: declareRelation({
    answers:
      "How often do the builds of a project succeed, day by day? One row per project and UTC day with builds; " +
      "docs/reports.md shows how to add the days without.",
    columns: {
      ...DAY,
      ...PROJECT,
      ...RATE,
      ...UNFINISHED,
      is_complete: COVERAGE.is_complete,
      is_covered:
        "False where no sync has read the build list since the day began: there may be more builds.",
      ...STUCK,
      ...CANCELLED,
    },
    key: ["day", "project_id"],
    time: "day",
    order: ["day desc", "project_slug", "project_id"],
    answer: ["day", "project_slug", "finished", "succeeded", "success_rate", "is_complete"],
  }),
  success_rate_by_project: declareRelation({
    answers: "How often do the builds of each project succeed? One row per project with builds.",
    columns: {
      ...PROJECT,
      ...RATE,
      ...UNFINISHED,
      versions: "Versions that were built.",
      first_triggered_at: `When its first build was triggered; ${NONE_DATED}.`,
      last_triggered_at: `When its last build was triggered; ${NONE_DATED}.`,
      ...CANCELLED,
    },
    key: ["project_id"],
    order: ["success_rate_high nulls last", "finished desc", "project_slug", "project_id"],
    answer: ["project_slug", "finished", "succeeded", "success_rate", "success_rate_high"],
  }),
  success_rate_by_type: declareRelation({
    answers: "How often do builds of each type succeed? One row per type.",
    columns: {
      ...TYPE,
      ...RATE,
      ...PROJECT_MEAN,
      projects: "Projects with such a build, without the unknown one.",
      ...UNFINISHED,
      ...CANCELLED,
    },
    key: ["type"],
    order: ["success_rate_high nulls last", "finished desc", "type"],
    answer: ["type", "finished", "succeeded", "success_rate", "success_rate_low", "success_rate_high"],
  }),
  regressions: declareRelation({
    answers:
      "Which projects got worse? One row per project whose success rate of the last 7 days is surely " +
      "lower than that of the 28 days before, with 20 finished builds or more in both.",
    columns: {
      ...PROJECT,
      finished_last_7_days:
        "Finished builds of the last 7 days: UTC days of triggers, up to the day of the last sync, with that day.",
      succeeded_last_7_days: "Those that succeeded.",
      success_rate_last_7_days: "Their share.",
      finished_28_days_before: "Finished builds of the 28 days before those.",
      succeeded_28_days_before: "Those that succeeded.",
      success_rate_28_days_before: "Their share.",
      difference: "success_rate_last_7_days - success_rate_28_days_before: below 0.",
      difference_low: "Lower end of the 95 % interval of difference, by Newcombe (1998), method 10.",
      difference_high: "Upper end of that interval: below 0 in each row.",
      last_failed_build_id: "The newest failed build of the last 7 days.",
    },
    key: ["project_id"],
    order: ["difference_high", "difference", "project_slug", "project_id"],
    answer: [
      "project_slug",
      "success_rate_last_7_days",
      "success_rate_28_days_before",
      "finished_last_7_days",
      "difference_high",
    ],
  }),
  success_rate_without_platform: declareRelation({
    answers:
      "How often do builds succeed, apart from faults of the platform? One row per UTC day from the " +
      "first build to today. Left out are all builds of incident_hours, and failures of the platform's " +
      "classes in error_rules. Where few projects build in an hour, incident_hours misses trouble, and its failures count here.",
    isExpensive: true,
    columns: {
      ...DAY,
      finished: "Builds with a known result, nothing left out, as in success_rate_daily.",
      succeeded: "Those that succeeded.",
      failed: "Those that failed.",
      success_rate: `succeeded / finished, 0 to 1; ${NOTHING_FINISHED}.`,
      finished_without_platform: "Finished builds that are not left out.",
      succeeded_without_platform: "Those that succeeded.",
      failed_without_platform: "Those that failed.",
      success_rate_without_platform:
        "succeeded_without_platform / finished_without_platform, 0 to 1; null where none is left.",
      success_rate_without_platform_low:
        "Lower end of the 95 % Wilson interval of success_rate_without_platform; null where none is left.",
      success_rate_without_platform_high: "Upper end of that interval; null where none is left.",
      incident_hours: "Incident hours of the day.",
      ...COVERAGE,
    },
    ...BY_DAY,
    answer: [
      "day",
      "success_rate",
      "success_rate_without_platform",
      "finished",
      "finished_without_platform",
      "incident_hours",
    ],
  }),
};
