CREATE OR REPLACE VIEW report.success_rate_by_type AS
SELECT type, sum(builds)::bigint AS builds, sum(finished)::bigint AS finished, sum(succeeded)::bigint AS succeeded,
  sum(failed)::bigint AS failed,
  sum(succeeded)::float8 / nullif(sum(finished), 0)::float8 AS success_rate,
  report.wilson_low(sum(succeeded)::bigint, sum(finished)::bigint) AS success_rate_low,
  report.wilson_high(sum(succeeded)::bigint, sum(finished)::bigint) AS success_rate_high,
  avg(succeeded::float8 / nullif(finished, 0)::float8) FILTER (WHERE project_id <> '-1') AS success_rate_project_mean,
  count(*) FILTER (WHERE project_id <> '-1') AS projects,
  (sum(builds) - sum(finished))::bigint AS unfinished
FROM (
  SELECT type, project_id, sum(builds) AS builds, sum(finished) AS finished, sum(succeeded) AS succeeded, sum(failed) AS failed
  FROM rollup.series GROUP BY type, project_id
) AS project
GROUP BY type;
