-- A line is that of all builds whose error lines differ only in places, such as paths and numbers, so they have one fingerprint. What it
-- is needs no look at the builds, so a page that asks for no class and no example reads none.
CREATE OR REPLACE VIEW report.error_lines AS
SELECT rank, last_error_class AS error_class, fingerprint AS error_fingerprint, error_line_id, nullif(masked_line, '') AS error_line, example,
  failures, failure_share, projects, project_share, first_triggered_at, last_triggered_at, last_build_id, failures_last_7_days,
  failures_7_days_before, projects_last_7_days, projects_7_days_before
FROM rollup.errors_by_error_line_id;
