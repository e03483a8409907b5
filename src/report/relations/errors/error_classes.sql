CREATE OR REPLACE VIEW report.error_classes AS
SELECT rank, error_class, example, failures, failure_share, projects, project_share, first_triggered_at, last_triggered_at, last_build_id,
  failures_last_7_days, failures_7_days_before, projects_last_7_days, projects_7_days_before
FROM rollup.errors_by_error_class;
