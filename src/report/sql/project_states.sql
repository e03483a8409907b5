-- Projects that never finished a build are not good but unknown, and what only deleted versions finished says nothing about today.
CREATE OR REPLACE VIEW report.project_states AS
SELECT project.project_id, project.project_slug, project.project_name,
  CASE WHEN failing.is_main THEN 'main_failing' WHEN failing.series > 0 THEN 'failing' WHEN total.known > 0 THEN 'good' ELSE 'unknown' END AS state,
  coalesce(failing.series, 0)::int AS failing, failing.since AS failing_since, failing.main_since AS main_failing_since,
  coalesce(stuck.builds, 0)::int AS stuck, coalesce(total.builds, 0) AS builds, coalesce(total.finished, 0) AS finished,
  coalesce(total.succeeded, 0) AS succeeded, coalesce(total.failed, 0) AS failed,
  total.succeeded::float8 / nullif(total.finished, 0) AS success_rate,
  report.wilson_low(total.succeeded, total.finished) AS success_rate_low,
  report.wilson_high(total.succeeded, total.finished) AS success_rate_high, total.last_triggered_at
FROM report.dim_projects AS project
LEFT JOIN (
  SELECT series.project_id, sum(series.builds) AS builds, sum(series.finished) AS finished, sum(series.succeeded) AS succeeded,
    sum(series.failed) AS failed, sum(series.finished) FILTER (WHERE version.is_deleted IS NOT TRUE) AS known,
    max(series.last_triggered_at) AS last_triggered_at
  FROM rollup.series AS series
  LEFT JOIN report.dim_versions AS version ON version.version_id = series.version_id
  GROUP BY series.project_id
) AS total ON total.project_id = project.project_id
LEFT JOIN (
  SELECT project_id, count(*) AS series, bool_or(is_main) AS is_main, max(failing_since) AS since,
    max(failing_since) FILTER (WHERE is_main) AS main_since
  FROM report.failing_now GROUP BY project_id
) AS failing ON failing.project_id = project.project_id
LEFT JOIN (SELECT project_id, count(*) AS builds FROM report.stuck_builds GROUP BY project_id) AS stuck ON stuck.project_id = project.project_id
WHERE NOT project.is_deleted AND project.project_id <> '-1';
