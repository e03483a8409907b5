-- A build adds one to the hours from its first to its last, and the counts are running sums of these steps: a build
-- that was stuck for years costs two rows. Dates before 2000 are errors, so no hour is before the first build since
-- then. After the moment up to which everything was read nothing is known. The first hour and that of this moment
-- have a row in any case: between them an hour without a row had no open build, and later ones wait for a refresh.
CREATE OR REPLACE VIEW rollup.backlog_source AS
WITH span AS (
  SELECT hour_of.last AS last_hour, least(hour_of.first, hour_of.last) AS first_hour
  FROM rollup.state
  LEFT JOIN LATERAL (
    SELECT triggered_at FROM rollup.builds WHERE triggered_on >= '2000-01-01' ORDER BY triggered_on NULLS FIRST, triggered_at NULLS FIRST LIMIT 1
  ) AS oldest ON true
  CROSS JOIN LATERAL (
    SELECT date_bin('1 hour', oldest.triggered_at, '2000-01-01 00:00+00') AS first,
      date_bin('1 hour', coalesce(covered_through, refreshed_at), '2000-01-01 00:00+00') AS last
  ) AS hour_of
  WHERE state.id = 1
), open AS (
  -- Builds with the same hours are counted by parallel processes, so that few rows go on. Each pair is the first hour
  -- at or after a moment, and the one after the last at or before another.
  SELECT date_bin('1 hour', build.first_seen_at + interval '1 hour' - interval '1 us', '2000-01-01 00:00+00') AS surely_first,
    date_bin('1 hour', surely.until, '2000-01-01 00:00+00') + interval '1 hour' AS surely_end,
    date_bin('1 hour', perhaps.since + interval '1 hour' - interval '1 us', '2000-01-01 00:00+00') AS perhaps_first,
    date_bin('1 hour', perhaps.until, '2000-01-01 00:00+00') + interval '1 hour' AS perhaps_end,
    count(*) AS builds
  FROM rollup.builds AS build
  JOIN rollup.state ON state.id = 1
  LEFT JOIN sync.open_builds AS gone ON build.outcome = 'vanished' AND gone.build_id = build.build_id
  CROSS JOIN LATERAL (SELECT coalesce(build.finished_after, build.last_seen_at, gone.seen_at) AS until) AS surely
  CROSS JOIN LATERAL (
    -- Where summer time repeats or skips the hour of its date, a build may be an hour older.
    SELECT least(CASE WHEN build.is_time_ambiguous THEN build.triggered_at - interval '1 hour' ELSE build.triggered_at END, build.first_seen_at) AS since,
      greatest(surely.until, CASE
        WHEN build.outcome = 'vanished' THEN least(gone.vanished_at, build.deleted_at)
        WHEN build.last_seen_at IS NOT NULL THEN coalesce(state.covered_through, state.refreshed_at)
        ELSE build.finished_before
      END) AS until
  ) AS perhaps
  -- Most builds lie within one hour.
  WHERE date_bin('1 hour', perhaps.until, '2000-01-01 00:00+00') >= perhaps.since
  GROUP BY 1, 2, 3, 4
), step AS (
  SELECT step.hour, sum(surely) AS surely, sum(perhaps) AS perhaps
  FROM open
  CROSS JOIN span
  CROSS JOIN LATERAL (SELECT greatest(surely_first, first_hour) AS surely_from, greatest(perhaps_first, first_hour) AS perhaps_from) AS shown
  CROSS JOIN LATERAL (VALUES
    (surely_from, builds, 0, surely_from < surely_end), (surely_end, -builds, 0, surely_from < surely_end),
    (perhaps_from, 0, builds, perhaps_from < perhaps_end), (perhaps_end, 0, -builds, perhaps_from < perhaps_end)
  ) AS step (hour, surely, perhaps, is_step)
  WHERE is_step
  GROUP BY step.hour
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
