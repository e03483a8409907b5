-- A build adds one to the hours from its first to its last, and the counts are running sums of these steps: a build
-- that was stuck for years costs two rows. Dates before 2000 are errors, so no hour is before the first build since
-- then. After the moment up to which everything was read nothing is known. The first hour and that of this moment
-- have a row in any case: between them an hour without a row had no open build, and later ones wait for a refresh.
CREATE OR REPLACE VIEW rollup.backlog_source AS
WITH span AS MATERIALIZED (
  SELECT last_moment, hour_of.last AS last_hour, least(hour_of.first, hour_of.last) AS first_hour
  FROM (SELECT coalesce(covered_through, refreshed_at) AS last_moment FROM rollup.state WHERE id = 1) AS covered
  LEFT JOIN LATERAL (
    SELECT triggered_at FROM rollup.builds WHERE triggered_on >= '2000-01-01' ORDER BY triggered_on NULLS FIRST, triggered_at NULLS FIRST LIMIT 1
  ) AS oldest ON true
  CROSS JOIN LATERAL (
    SELECT date_bin('1 hour', oldest.triggered_at, '2000-01-01 00:00+00') AS first, date_bin('1 hour', last_moment, '2000-01-01 00:00+00') AS last
  ) AS hour_of
), known AS (
  SELECT build.first_seen_at AS surely_from, surely.until AS surely_until,
    least(build.triggered_at, build.first_seen_at) AS perhaps_from,
    greatest(surely.until, CASE
      WHEN build.outcome = 'vanished' THEN least(gone.vanished_at, build.deleted_at)
      WHEN build.last_seen_at IS NOT NULL THEN span.last_moment
      ELSE build.finished_before
    END) AS perhaps_until
  FROM rollup.builds AS build
  CROSS JOIN span
  LEFT JOIN sync.open_builds AS gone ON build.outcome = 'vanished' AND gone.build_id = build.build_id
  CROSS JOIN LATERAL (SELECT coalesce(build.finished_after, build.last_seen_at, gone.seen_at) AS until) AS surely
), step AS (
  SELECT hour, sum(surely) AS surely, sum(perhaps) AS perhaps
  FROM known
  CROSS JOIN span
  CROSS JOIN LATERAL (
    -- The first whole hour at or after a moment, or the last one at or before it.
    SELECT greatest(date_bin('1 hour', surely_from + interval '1 hour' - interval '1 us', '2000-01-01 00:00+00'), first_hour) AS surely_first,
      date_bin('1 hour', surely_until + interval '1 hour' - interval '1 us', '2000-01-01 00:00+00') AS surely_end,
      greatest(date_bin('1 hour', perhaps_from + interval '1 hour' - interval '1 us', '2000-01-01 00:00+00'), first_hour) AS perhaps_first,
      date_bin('1 hour', perhaps_until, '2000-01-01 00:00+00') + interval '1 hour' AS perhaps_end
  ) AS hours
  CROSS JOIN LATERAL (VALUES
    (surely_first, 1, 0, surely_first < surely_end), (surely_end, -1, 0, surely_first < surely_end),
    (perhaps_first, 0, 1, perhaps_first < perhaps_end), (perhaps_end, 0, -1, perhaps_first < perhaps_end)
  ) AS step (hour, surely, perhaps, is_step)
  -- Most builds lie within one hour.
  WHERE date_bin('1 hour', perhaps_until, '2000-01-01 00:00+00') >= perhaps_from AND is_step
  GROUP BY hour
)
SELECT hour, open_min, open_max
FROM (
  SELECT hour, coalesce(sum(surely) OVER past, 0)::int AS open_min, coalesce(sum(perhaps) OVER past, 0)::int AS open_max, first_hour, last_hour
  FROM span
  CROSS JOIN LATERAL generate_series(first_hour, last_hour, '1 hour') AS hour
  LEFT JOIN step USING (hour)
  WINDOW past AS (ORDER BY hour)
) AS counted
WHERE open_max > 0 OR hour IN (first_hour, last_hour);
