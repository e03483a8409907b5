CREATE OR REPLACE VIEW report.error_fingerprints AS
SELECT rank, last_error_class AS error_class, error_fingerprint, example, failures, failure_share, projects, project_share, first_triggered_at,
  last_triggered_at, last_build_id, failures_last_7_days, failures_7_days_before, projects_last_7_days, projects_7_days_before,
  rollup.masked_line(example, false) AS mask
FROM rollup.errors_by_error_fingerprint;
