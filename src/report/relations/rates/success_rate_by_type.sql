CREATE OR REPLACE VIEW report.success_rate_by_type AS
SELECT total.type, total.builds, total.finished, total.succeeded, total.failed, rate.success_rate, rate.success_rate_low,
  rate.success_rate_high, total.success_rate_project_mean, total.projects, total.builds - total.finished - total.cancelled AS unfinished, total.cancelled
FROM (
  SELECT type, sum(builds)::bigint AS builds, sum(finished)::bigint AS finished, sum(succeeded)::bigint AS succeeded,
    sum(failed)::bigint AS failed, sum(cancelled)::bigint AS cancelled,
    avg(succeeded::float8 / nullif(finished, 0)::float8) FILTER (WHERE project_id <> '-1') AS success_rate_project_mean,
    count(*) FILTER (WHERE project_id <> '-1') AS projects
  FROM (
    SELECT type, project_id, sum(builds) AS builds, sum(finished) AS finished, sum(succeeded) AS succeeded, sum(failed) AS failed, sum(cancelled) AS cancelled
    FROM rollup.series GROUP BY type, project_id
  ) AS project
  GROUP BY type
) AS total
CROSS JOIN LATERAL report.success_rate(total.succeeded, total.finished) AS rate;
