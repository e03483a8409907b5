-- For all series at once: one sort costs less than a visit to each. Single ones are computed by rollup.recent_builds.
-- Builds that name neither project nor version may belong to several series, so nothing is said about their order.
-- Finished builds of a series have their own partition, so that each row's neighbour there is the finished
-- build before it.
CREATE OR REPLACE VIEW rollup.series_source AS
SELECT project_id, version_id, type, reference, count(*)::int AS builds, count(succeeded)::int AS finished,
  coalesce(sum(succeeded), 0)::int AS succeeded, coalesce(sum(failed), 0)::int AS failed,
  min(triggered_at) AS first_triggered_at, max(triggered_at) AS last_triggered_at,
  (count(succeeded) FILTER (WHERE nth_last <= 20 AND reference <> '(none)'))::int AS recent_finished,
  coalesce(sum(succeeded) FILTER (WHERE nth_last <= 20 AND reference <> '(none)'), 0)::int AS recent_succeeded,
  (count(*) FILTER (WHERE nth_last < 20 AND succeeded <> before AND reference <> '(none)'))::int AS recent_flips
FROM (
  SELECT project_id, version_id, type, reference, succeeded, failed, triggered_at, row_number() OVER newest AS nth_last, lead(succeeded) OVER newest AS before
  FROM rollup.builds
  WINDOW newest AS (
    PARTITION BY project_id, version_id, type, reference, succeeded IS NULL
    ORDER BY triggered_at DESC NULLS LAST, length(build_id) DESC, build_id DESC
  )
) AS build
GROUP BY project_id, version_id, type, reference;
