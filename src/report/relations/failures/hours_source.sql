-- A project's base rate comes from its other hours, plus five hours at the rate of all projects: few hours of
-- its own would prove nothing.
CREATE OR REPLACE VIEW rollup.hours_source AS
WITH project_hour AS (
  SELECT project_id, date_trunc('hour', triggered_at, 'UTC') AS hour, count(*) AS builds, sum(failed) AS failed,
    (sum(failed) > 0)::int AS is_failing
  FROM rollup.builds WHERE succeeded IS NOT NULL AND triggered_at IS NOT NULL AND project_id <> '-1'
  GROUP BY project_id, date_trunc('hour', triggered_at, 'UTC')
), rated AS (
  SELECT hour, builds, failed, is_failing,
    (sum(is_failing) OVER project - is_failing + 5 * avg(is_failing) OVER ())::float8 / (count(*) OVER project - 1 + 5) AS base_rate
  FROM project_hour
  WINDOW project AS (PARTITION BY project_id)
)
SELECT hour, count(*)::int AS projects, sum(is_failing)::int AS projects_failing, sum(base_rate) AS projects_expected,
  rollup.binomial_tail(count(*)::int, sum(is_failing)::int, sum(base_rate) / count(*)) AS probability,
  sum(builds)::int AS builds, sum(failed)::int AS failed
FROM rated
GROUP BY hour HAVING count(*) >= 8;
