import type { Relation } from "../../src/db/report-dictionary.ts";

/** What tells the rows of each relation apart. */
export const KEYS: Record<Relation, readonly string[]> = {
  dim_projects: ["project_id"],
  dim_versions: ["version_id"],
  dim_dates: ["day"],
  fact_builds: ["build_id"],
  fact_months: ["month"],
  success_rate_daily: ["day"],
  success_rate_weekly: ["week"],
  success_rate_daily_by_project: ["day", "project_id"],
  success_rate_by_project: ["project_id"],
  success_rate_by_version: ["project_id", "version_id"],
  success_rate_by_type: ["type"],
  build_times_daily: ["day"],
  failing_now: ["project_id", "version_id", "type"],
  recoveries: ["first_failed_build_id"],
  instability: ["project_id", "version_id", "type"],
  open_builds: ["build_id"],
  stuck_builds: ["build_id"],
  incident_hours: ["hour"],
  error_classes: ["error_class", "error_fingerprint"],
  error_rules: ["order"],
  project_activity: ["project_id", "week"],
  freshness: ["resource"],
  runs: ["run_id"],
  data_dictionary: ["relation", "column_name"],
};
