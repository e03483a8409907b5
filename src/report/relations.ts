import type { ColumnOf, Relation } from "./dictionary.ts";
import type { TimeGrain } from "./time-bounds.ts";

export interface RelationFacts<Column extends string = string> {
  /** The column that `since` and `until` are compared with. Without one, each row counts builds of all times. */
  readonly time?: {
    readonly column: string;
    readonly span: TimeGrain;
    /** The UTC day of that column, which has an index. */
    readonly day?: string;
  };
  /** Newest first for events, worst first for problems. Ends in a key, so that pages do not overlap. */
  readonly order: string;
  /**
   * The columns that answer its question, for a terminal 80 columns wide. On a narrower one the last of them
   * are left out. A new column of the relation is not shown until it is added here.
   */
  readonly answer: readonly Column[];
}

const SERIES = "project_slug, project_id, version_slug, version_id, type";
const FLAKY = [
  "project_slug",
  "version_slug",
  "type",
  "finished",
  "flips",
  "p_value",
  "p_value_adjusted",
] as const;
const BROKE = ["broke", "fixed", "born_broken", "projects_broke", "projects_fixed", "is_complete"] as const;
/** By the upper end of the interval, so that a project with one failed build does not rank first. */
const WORST = "success_rate_high nulls last, finished desc";

export const RELATION_FACTS: { readonly [R in Relation]: RelationFacts<ColumnOf<R>> } = {
  dim_projects: {
    order: "project_slug, project_id",
    answer: ["project_slug", "project_name", "documentation_type", "published_on", "is_deleted"],
  },
  dim_versions: {
    order: "project_id, version_slug, version_id",
    answer: [
      "version_slug",
      "version_name",
      "project_id",
      "is_active",
      "is_built",
      "is_deleted",
      "identifier",
    ],
  },
  never_built: {
    order: "project_slug, project_id, version_slug, version_id",
    answer: ["project_slug", "version_slug", "is_active", "is_built", "is_uploaded", "first_seen_at"],
  },
  dim_dates: {
    time: { column: "day", span: "day" },
    order: "day",
    answer: ["day", "week", "iso_week", "month", "day_of_week", "is_weekend"],
  },
  fact_builds: {
    time: { column: "triggered_at", span: "moment", day: "triggered_on" },
    // The day comes first, because the index for all questions about builds by time begins with it.
    order: "triggered_on desc nulls last, triggered_at desc nulls last, build_id desc",
    answer: ["build_id", "project_slug", "version_slug", "type", "outcome", "triggered_at", "error_class"],
  },
  fact_months: { order: "month desc nulls last", answer: ["month", "revision"] },
  success_rate_daily: {
    time: { column: "day", span: "day" },
    order: "day desc",
    answer: ["day", "finished", "success_rate", "success_rate_low", "success_rate_high", "is_complete"],
  },
  success_rate_weekly: {
    time: { column: "week", span: "week" },
    order: "week desc",
    answer: ["week", "finished", "success_rate", "success_rate_low", "success_rate_high", "is_complete"],
  },
  success_rate_monthly: {
    time: { column: "month_start", span: "month" },
    order: "month_start desc",
    answer: ["month", "finished", "success_rate", "success_rate_low", "success_rate_high", "is_complete"],
  },
  success_rate_daily_by_project: {
    time: { column: "day", span: "day" },
    order: "day desc, project_slug, project_id",
    answer: ["day", "project_slug", "finished", "succeeded", "success_rate", "is_complete"],
  },
  success_rate_weekly_by_project: {
    time: { column: "week", span: "week" },
    order: "week desc, project_slug, project_id",
    answer: ["week", "project_slug", "finished", "succeeded", "success_rate", "is_complete"],
  },
  success_rate_by_project: {
    order: `${WORST}, project_slug, project_id`,
    answer: ["project_slug", "finished", "succeeded", "success_rate", "success_rate_high"],
  },
  success_rate_by_version: {
    order: `${WORST}, project_slug, project_id, version_slug, version_id`,
    answer: ["project_slug", "version_slug", "finished", "success_rate", "success_rate_high"],
  },
  success_rate_by_type: {
    order: `${WORST}, type`,
    answer: ["type", "finished", "succeeded", "success_rate", "success_rate_low", "success_rate_high"],
  },
  build_times_daily: {
    time: { column: "day", span: "day" },
    order: "day desc",
    answer: ["day", "finished", "p50_s_min", "p50_s_max", "p90_s_min", "p90_s_max", "is_complete"],
  },
  regressions: {
    order: "difference_high, difference, project_slug, project_id",
    answer: [
      "project_slug",
      "success_rate_last_7_days",
      "success_rate_28_days_before",
      "finished_last_7_days",
      "difference_high",
    ],
  },
  build_times_weekly_by_project: {
    time: { column: "week", span: "week" },
    order: "week desc, finished desc, project_slug, project_id",
    answer: ["week", "project_slug", "finished", "p50_s_min", "p50_s_max", "p90_s_min", "p90_s_max"],
  },
  build_times_weekly_by_type: {
    time: { column: "week", span: "week" },
    order: "week desc, finished desc, type",
    answer: ["week", "type", "finished", "p50_s_min", "p50_s_max", "p90_s_min", "p90_s_max"],
  },
  build_phases: {
    time: { column: "triggered_at", span: "moment", day: "triggered_on" },
    order: "triggered_on desc nulls last, triggered_at desc nulls last, build_id desc",
    answer: [
      "build_id",
      "project_slug",
      "version_slug",
      "queued_s_min",
      "queued_s_max",
      "building_s_min",
      "building_s_max",
    ],
  },
  failing_now: {
    time: { column: "failing_since", span: "moment" },
    // What matters now: what readers see first, and of that the newest break.
    order: `is_main desc, is_default_version desc, is_active desc nulls last, failing_since desc nulls last, ${SERIES}`,
    answer: [
      "project_slug",
      "version_slug",
      "type",
      "failures",
      "failing_since",
      "error_class",
      "error_line",
    ],
  },
  failing_projects: {
    time: { column: "failing_since", span: "moment" },
    order: "failing_since desc nulls last, project_slug, project_id",
    answer: ["project_slug", "version_slug", "type", "failing_since", "failing", "error_class", "error_line"],
  },
  project_states: {
    order: "project_slug, project_id",
    answer: ["project_slug", "state", "failing", "failing_since", "finished", "success_rate"],
  },
  recoveries: {
    time: { column: "failed_at", span: "moment" },
    order: "failed_at desc nulls last, first_failed_build_id desc",
    answer: ["project_slug", "version_slug", "type", "broke_at", "hours_to_recover", "is_open"],
  },
  // The row about all streaks, then the months, newest first, then the types, then the projects with the most streaks.
  time_to_recover: {
    order:
      "project_id is not null, type is not null, month desc nulls first, streaks desc, type, project_slug, project_id",
    answer: ["project_slug", "type", "month", "median_hours", "streaks", "still_open", "closed_median_hours"],
  },
  instability: {
    order: `p_value nulls last, flip_rate desc, finished desc, ${SERIES}, reference`,
    answer: FLAKY,
  },
  flaky_series: {
    order: `p_value, flip_rate desc, finished desc, ${SERIES}, reference`,
    answer: FLAKY,
  },
  broke_weekly: { time: { column: "week", span: "week" }, order: "week desc", answer: ["week", ...BROKE] },
  broke_daily: { time: { column: "day", span: "day" }, order: "day desc", answer: ["day", ...BROKE] },
  open_builds: {
    time: { column: "triggered_at", span: "moment" },
    order: "age_s desc nulls last, build_id",
    answer: ["build_id", "project_slug", "version_slug", "state", "age_s", "triggered_at", "type"],
  },
  stuck_builds: {
    time: { column: "triggered_at", span: "moment" },
    order: "age_s desc nulls last, build_id",
    answer: ["build_id", "project_slug", "version_slug", "state", "age_s", "triggered_at", "type"],
  },
  backlog: {
    time: { column: "hour", span: "hour" },
    order: "hour desc",
    answer: ["hour", "open_min", "open_max", "is_covered"],
  },
  arrivals: {
    order: "looked_at",
    answer: ["state", "reason", "looked_at", "last_build_at", "builds_24h", "usual_24h"],
  },
  arrivals_hourly: {
    time: { column: "hour", span: "hour" },
    order: "hour desc",
    answer: ["hour", "builds", "usual_low", "usual_high"],
  },
  incident_hours: {
    time: { column: "hour", span: "hour" },
    order: "hour desc",
    answer: ["hour", "projects", "projects_failing", "projects_expected", "probability"],
  },
  error_classes: {
    order: "rank",
    answer: ["rank", "error_class", "failures", "projects", "example"],
  },
  error_fingerprints: {
    order: "rank",
    answer: ["rank", "error_class", "failures", "projects", "mask"],
  },
  error_lines: {
    order: "rank",
    answer: ["rank", "error_class", "failures", "projects", "error_line"],
  },
  error_fingerprints_daily: {
    time: { column: "day", span: "day" },
    order: "day desc, failures desc, error_class, error_fingerprint",
    answer: ["day", "error_class", "error_fingerprint", "failures", "projects"],
  },
  error_trend_weekly: {
    time: { column: "week", span: "week" },
    order: "week desc, failures desc nulls last, error_class",
    answer: ["week", "error_class", "failures", "failure_share", "failure_rate", "projects"],
  },
  success_rate_without_platform: {
    time: { column: "day", span: "day" },
    order: "day desc",
    answer: [
      "day",
      "success_rate",
      "success_rate_without_platform",
      "finished",
      "finished_without_platform",
      "incident_hours",
    ],
  },
  error_rules: {
    order: "position",
    answer: ["position", "pattern", "class", "is_platform", "note"],
  },
  project_activity: {
    time: { column: "week", span: "week" },
    order: "week desc, builds desc, project_slug, project_id",
    answer: ["week", "project_slug", "builds", "success_rate", "active_days", "failure_days"],
  },
  freshness: {
    order: "resource",
    answer: ["resource", "current_through", "lag_s", "last_walk", "records", "quarantined", "is_whole"],
  },
  runs: {
    time: { column: "started_at", span: "moment" },
    order: "run_id desc",
    answer: ["run_id", "kind", "status", "started_at", "requests", "error", "duration_s"],
  },
  walks: {
    time: { column: "started_at", span: "moment" },
    order: "run_id desc, resource",
    answer: ["run_id", "resource", "walk", "records", "started_at", "reason"],
  },
  quarantine: {
    order: "records desc, resource, reason_kind",
    answer: ["resource", "reason_kind", "records", "oldest_at", "newest_at"],
  },
  broken_references: {
    order: "broken desc, resource, field, target_resource, status",
    answer: ["resource", "field", "target_resource", "status", "broken", "targets", "last_checked_at"],
  },
  schema_changes: {
    time: { column: "observed_at", span: "moment" },
    order: "observed_at desc, resource, field, kind, detail",
    answer: ["resource", "field", "kind", "detail", "observed_at"],
  },
  muted_projects: { order: "until, project_slug", answer: ["project_slug", "until", "muted_at"] },
  data_dictionary: { order: "relation, position", answer: ["relation", "column_name", "description"] },
};
