-- The last builds of each series are read from its index, also where all series are computed: one sort of all builds takes longer.
-- Builds that name no version may belong to several series, so nothing is said about their order.
CREATE OR REPLACE VIEW rollup.series_source AS
SELECT series.project_id, series.version_id, series.type, series.reference, series.builds, series.finished, series.succeeded,
  series.finished - series.succeeded AS failed, series.first_triggered_at, series.last_triggered_at,
  recent.finished AS recent_finished, recent.succeeded AS recent_succeeded, recent.flips AS recent_flips, series.cancelled
FROM (
  SELECT project_id, version_id, type, reference, count(*)::int AS builds, count(succeeded)::int AS finished,
    coalesce(sum(succeeded), 0)::int AS succeeded, min(triggered_at) AS first_triggered_at, max(triggered_at) AS last_triggered_at,
    (count(*) FILTER (WHERE outcome = 'cancelled'))::int AS cancelled
  FROM rollup.builds GROUP BY project_id, version_id, type, reference
) AS series
CROSS JOIN LATERAL (
  SELECT count(*)::int AS finished, coalesce(sum(succeeded), 0)::int AS succeeded, (count(*) FILTER (WHERE succeeded <> before))::int AS flips
  FROM (
    SELECT succeeded, lead(succeeded) OVER (ORDER BY triggered_at DESC NULLS LAST, length(build_id) DESC, build_id DESC) AS before
    FROM (
      SELECT succeeded, triggered_at, build_id FROM rollup.builds AS build
      WHERE build.project_id = series.project_id AND build.version_id = series.version_id AND build.type = series.type
        AND build.reference = series.reference AND series.reference <> '(none)' AND succeeded IS NOT NULL
      ORDER BY triggered_at DESC NULLS LAST, length(build_id) DESC, build_id DESC LIMIT 20
    ) AS last
  ) AS build
) AS recent;
