CREATE OR REPLACE VIEW report.success_rate_by_version AS
SELECT total.project_id, project.project_slug, total.version_id, version.version_slug, total.builds, total.finished, total.succeeded,
  total.failed,
  total.succeeded::float8 / nullif(total.finished, 0) AS success_rate,
  report.wilson_low(total.succeeded, total.finished) AS success_rate_low,
  report.wilson_high(total.succeeded, total.finished) AS success_rate_high,
  total.builds - total.finished AS unfinished, total.first_triggered_at, total.last_triggered_at
FROM (
  SELECT project_id, version_id, sum(builds) AS builds, sum(finished) AS finished, sum(succeeded) AS succeeded, sum(failed) AS failed,
    min(first_triggered_at) AS first_triggered_at, max(last_triggered_at) AS last_triggered_at
  FROM rollup.series GROUP BY project_id, version_id
) AS total
LEFT JOIN report.dim_projects AS project ON project.project_id = total.project_id
LEFT JOIN report.dim_versions AS version ON version.version_id = total.version_id;
