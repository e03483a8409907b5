import type { Relation } from "../db/report-dictionary.ts";

/** The span of time that one row of a relation stands for, and so how its bounds are rounded. */
export type Span = "moment" | "hour" | "day" | "week";

export interface RelationFacts {
  /**
   * The column that `since` and `until` are held against. Where there is none a row counts all builds, and no choice of rows would make
   * that a count of some.
   */
  readonly time?: {
    readonly column: string;
    readonly span: Span;
    /** The UTC day of that column, by which there is an index. */
    readonly day?: string;
  };
  /** Newest first for what happens, worst first for what is to be mended. Ends in a key, so that pages do not overlap. */
  readonly order: string;
}

const SERIES = "project_slug, project_id, version_slug, version_id, type";
/** By the upper end of the interval: first those that are surely bad, not those with one build that failed. */
const WORST = "success_rate_high nulls last, finished desc";

export const RELATION_FACTS: Readonly<Record<Relation, RelationFacts>> = {
  dim_projects: { order: "project_slug, project_id" },
  dim_versions: { order: "project_id, version_slug, version_id" },
  dim_dates: { time: { column: "day", span: "day" }, order: "day" },
  fact_builds: {
    time: { column: "triggered_at", span: "moment", day: "triggered_on" },
    // The day is in it for the index that all questions about builds by time have in common.
    order: "triggered_on desc nulls last, triggered_at desc nulls last, build_id desc",
  },
  success_rate_daily: { time: { column: "day", span: "day" }, order: "day desc" },
  success_rate_weekly: { time: { column: "week", span: "week" }, order: "week desc" },
  success_rate_daily_by_project: {
    time: { column: "day", span: "day" },
    order: "day desc, project_slug, project_id",
  },
  success_rate_by_project: { order: `${WORST}, project_slug, project_id` },
  success_rate_by_version: { order: `${WORST}, project_slug, project_id, version_slug, version_id` },
  success_rate_by_type: { order: `${WORST}, type` },
  build_times_daily: { time: { column: "day", span: "day" }, order: "day desc" },
  failing_now: {
    time: { column: "failing_since", span: "moment" },
    order: `failures desc, failing_since, ${SERIES}`,
  },
  recoveries: {
    time: { column: "failed_at", span: "moment" },
    order: "failed_at desc nulls last, first_failed_build_id desc",
  },
  // Two or three builds say nothing, however much they change.
  instability: {
    order: `finished >= 10 desc, flip_rate - flip_rate_by_chance desc, finished desc, ${SERIES}`,
  },
  open_builds: {
    time: { column: "triggered_at", span: "moment" },
    order: "age_s desc nulls last, build_id",
  },
  stuck_builds: {
    time: { column: "triggered_at", span: "moment" },
    order: "age_s desc nulls last, build_id",
  },
  incident_hours: { time: { column: "hour", span: "hour" }, order: "hour desc" },
  error_classes: { order: "rank, error_class, error_fingerprint" },
  error_rules: { order: '"order"' },
  project_activity: {
    time: { column: "week", span: "week" },
    order: "week desc, builds desc, project_slug, project_id",
  },
  freshness: { order: "resource" },
  runs: { time: { column: "started_at", span: "moment" }, order: "run_id desc" },
  data_dictionary: { order: "relation, position" },
};
