-- Like rollup.weeks, but not stored. Only what counts projects needs the days of each of them.
CREATE OR REPLACE VIEW rollup.months AS
SELECT month.month_start, month.builds, month.finished, month.succeeded, month.failed, month.unsettled, month.stuck,
  project.projects, project.success_rate_project_mean
FROM (
  SELECT month_start, sum(builds)::int AS builds, sum(finished)::int AS finished, sum(succeeded)::int AS succeeded, sum(failed)::int AS failed,
    sum(unsettled)::int AS unsettled, sum(stuck)::int AS stuck
  FROM rollup.days JOIN report.dim_dates USING (day)
  GROUP BY month_start
) AS month
LEFT JOIN (
  SELECT month_start, (count(*) FILTER (WHERE project_id <> '-1'))::int AS projects,
    avg(succeeded::float8 / nullif(finished, 0)) FILTER (WHERE project_id <> '-1') AS success_rate_project_mean
  FROM (
    SELECT project_id, month_start, sum(finished) AS finished, sum(succeeded) AS succeeded
    FROM rollup.project_days JOIN report.dim_dates USING (day)
    GROUP BY project_id, month_start
  ) AS project_month
  GROUP BY month_start
) AS project ON project.month_start = month.month_start;
