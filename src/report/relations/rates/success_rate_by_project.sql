CREATE OR REPLACE VIEW report.success_rate_by_project AS
SELECT project_id, project.project_slug, total.builds, total.finished, total.succeeded, total.failed,
  rate.success_rate, rate.success_rate_low, rate.success_rate_high,
  total.builds - total.finished - total.cancelled AS unfinished, total.versions, total.first_triggered_at, total.last_triggered_at, total.cancelled
FROM (
  SELECT project_id, sum(builds) AS builds, sum(finished) AS finished, sum(succeeded) AS succeeded, sum(failed) AS failed, sum(cancelled) AS cancelled,
    count(DISTINCT version_id) FILTER (WHERE version_id <> '-1') AS versions, min(first_triggered_at) AS first_triggered_at,
    max(last_triggered_at) AS last_triggered_at
  FROM rollup.series GROUP BY project_id
) AS total
CROSS JOIN LATERAL report.success_rate(total.succeeded, total.finished) AS rate
LEFT JOIN report.dim_projects AS project USING (project_id);
