-- Both parts read the index of the series alone, so a series costs little, and its last 20 builds next to nothing.
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
CROSS JOIN LATERAL (
  SELECT count(*)::int AS finished, coalesce(sum(succeeded), 0)::int AS succeeded,
    (count(*) FILTER (WHERE succeeded <> before))::int AS flips
  FROM (
    SELECT succeeded, lead(succeeded) OVER (ORDER BY triggered_at DESC NULLS LAST, length(build_id) DESC, build_id DESC) AS before
    FROM (
      SELECT succeeded, triggered_at, build_id FROM rollup.builds AS build
      WHERE (build.project_id, build.version_id, build.type) = (total.project_id, total.version_id, total.type)
        AND succeeded IS NOT NULL
      ORDER BY triggered_at DESC NULLS LAST, length(build_id) DESC, build_id DESC LIMIT 20
    ) AS last
  ) AS build
) AS recent;
