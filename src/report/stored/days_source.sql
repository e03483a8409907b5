-- The percentile of the bounds is a bound of the percentile, because each bound holds for its build. A
-- missing upper bound counts as the highest.
CREATE OR REPLACE VIEW rollup.days_source AS
SELECT day.*, times.measured,
  times.least[1] AS p50_s_min, CASE WHEN times.most[1] < 'infinity' THEN times.most[1] END AS p50_s_max,
  times.least[2] AS p90_s_min, CASE WHEN times.most[2] < 'infinity' THEN times.most[2] END AS p90_s_max,
  times.least[3] AS p95_s_min, CASE WHEN times.most[3] < 'infinity' THEN times.most[3] END AS p95_s_max
FROM (
  SELECT day, sum(builds)::int AS builds, sum(finished)::int AS finished, sum(succeeded)::int AS succeeded, sum(failed)::int AS failed,
    sum(unsettled)::int AS unsettled, sum(stuck)::int AS stuck, sum(cancelled)::int AS cancelled, (count(*) FILTER (WHERE project_id <> '-1'))::int AS projects,
    avg(succeeded::float8 / nullif(finished, 0)) FILTER (WHERE project_id <> '-1') AS success_rate_project_mean
  FROM rollup.project_days GROUP BY day
) AS day
CROSS JOIN LATERAL (
  SELECT count(*)::int AS measured,
    percentile_cont(ARRAY[0.5, 0.9, 0.95]) WITHIN GROUP (ORDER BY duration_s_min) AS least,
    percentile_cont(ARRAY[0.5, 0.9, 0.95]) WITHIN GROUP (ORDER BY coalesce(duration_s_max, 'infinity')) AS most
  FROM rollup.builds AS build
  WHERE build.triggered_on = day.day AND build.duration_s_min IS NOT NULL
) AS times;
