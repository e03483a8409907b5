-- See rollup.days_source about percentiles of bounds. Each week of a project is found by the index on its days.
CREATE OR REPLACE VIEW rollup.project_week_times_source AS
SELECT week.project_id, week.week, times.measured,
  times.least[1] AS p50_s_min, CASE WHEN times.most[1] < 'infinity' THEN times.most[1] END AS p50_s_max,
  times.least[2] AS p90_s_min, CASE WHEN times.most[2] < 'infinity' THEN times.most[2] END AS p90_s_max,
  times.least[3] AS p95_s_min, CASE WHEN times.most[3] < 'infinity' THEN times.most[3] END AS p95_s_max
FROM rollup.project_weeks AS week
CROSS JOIN LATERAL (
  SELECT count(*)::int AS measured,
    percentile_cont(ARRAY[0.5, 0.9, 0.95]) WITHIN GROUP (ORDER BY duration_s_min) AS least,
    percentile_cont(ARRAY[0.5, 0.9, 0.95]) WITHIN GROUP (ORDER BY coalesce(duration_s_max, 'infinity')) AS most
  FROM rollup.builds AS build
  WHERE build.project_id = week.project_id AND build.triggered_on BETWEEN week.week AND week.week + 6 AND build.duration_s_min IS NOT NULL
) AS times
WHERE times.measured > 0;
