CREATE OR REPLACE VIEW rollup.series_source AS
SELECT total.project_id, total.version_id, total.type, total.builds, total.finished, total.succeeded,
  total.finished - total.succeeded AS failed, total.first_triggered_at, total.last_triggered_at,
  recent.finished AS recent_finished, recent.succeeded AS recent_succeeded, recent.flips AS recent_flips
FROM (
  SELECT project_id, version_id, type, count(*)::int AS builds, count(succeeded)::int AS finished,
    coalesce(sum(succeeded), 0)::int AS succeeded, min(triggered_at) AS first_triggered_at, max(triggered_at) AS last_triggered_at
  FROM rollup.builds
  GROUP BY project_id, version_id, type
) AS total
CROSS JOIN LATERAL rollup.recent_builds(total.project_id, total.version_id, total.type) AS recent;
