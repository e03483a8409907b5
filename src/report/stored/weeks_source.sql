CREATE OR REPLACE VIEW rollup.weeks_source AS
SELECT week, sum(builds)::int AS builds, sum(finished)::int AS finished, sum(succeeded)::int AS succeeded, sum(failed)::int AS failed,
  sum(unsettled)::int AS unsettled, sum(stuck)::int AS stuck, (count(*) FILTER (WHERE project_id <> '-1'))::int AS projects,
  avg(succeeded::float8 / nullif(finished, 0)) FILTER (WHERE project_id <> '-1') AS success_rate_project_mean
FROM rollup.project_weeks
GROUP BY week;
