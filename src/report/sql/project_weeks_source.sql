CREATE OR REPLACE VIEW rollup.project_weeks_source AS
SELECT project_id, date_trunc('week', day::timestamp)::date AS week, sum(builds)::int AS builds, sum(finished)::int AS finished,
  sum(succeeded)::int AS succeeded, sum(failed)::int AS failed, count(*)::int AS active_days,
  (count(*) FILTER (WHERE failed > 0))::int AS failure_days, sum(unsettled)::int AS unsettled
FROM rollup.project_days
GROUP BY project_id, date_trunc('week', day::timestamp)::date;
