-- See rollup.days_source about percentiles of bounds.
CREATE OR REPLACE VIEW report.waits_by_hour_of_day AS
SELECT hour_of_day, builds, least AS p50_s_min, CASE WHEN most < 'infinity' THEN most END AS p50_s_max
FROM (
  SELECT extract(hour FROM triggered_at AT TIME ZONE 'UTC')::int AS hour_of_day, count(*)::int AS builds,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY queued_s_min) AS least,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY coalesce(queued_s_max, 'infinity')) AS most
  FROM rollup.builds AS build
  WHERE queued_s_min IS NOT NULL AND triggered_at IS NOT NULL
  GROUP BY hour_of_day
) AS waits;
