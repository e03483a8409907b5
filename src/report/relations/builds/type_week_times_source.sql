-- See rollup.days_source about percentiles of bounds.
CREATE OR REPLACE VIEW rollup.type_week_times_source AS
SELECT type, week, measured,
  least[1] AS p50_s_min, CASE WHEN most[1] < 'infinity' THEN most[1] END AS p50_s_max,
  least[2] AS p90_s_min, CASE WHEN most[2] < 'infinity' THEN most[2] END AS p90_s_max,
  least[3] AS p95_s_min, CASE WHEN most[3] < 'infinity' THEN most[3] END AS p95_s_max
FROM (
  SELECT type, calendar.week, count(*)::int AS measured,
    percentile_cont(ARRAY[0.5, 0.9, 0.95]) WITHIN GROUP (ORDER BY duration_s_min) AS least,
    percentile_cont(ARRAY[0.5, 0.9, 0.95]) WITHIN GROUP (ORDER BY coalesce(duration_s_max, 'infinity')) AS most
  FROM rollup.builds AS build JOIN report.dim_dates AS calendar ON calendar.day = build.triggered_on
  WHERE build.duration_s_min IS NOT NULL
  GROUP BY type, calendar.week
) AS times;
