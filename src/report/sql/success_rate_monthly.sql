-- Only what counts projects needs the days of each of them.
CREATE OR REPLACE VIEW report.success_rate_monthly AS
SELECT calendar.month, calendar.month_start, known.builds, known.finished, known.succeeded, known.failed,
  month.succeeded::float8 / nullif(month.finished, 0) AS success_rate,
  report.wilson_low(month.succeeded, month.finished) AS success_rate_low,
  report.wilson_high(month.succeeded, month.finished) AS success_rate_high,
  project.success_rate_project_mean, known.projects, known.builds - known.finished AS unfinished,
  span.is_over AND coalesce(month.unsettled, 0) = 0 AS is_complete,
  span.is_covered, known.stuck
FROM (SELECT DISTINCT month, month_start FROM report.dim_dates) AS calendar
CROSS JOIN rollup.state
LEFT JOIN (
  SELECT month_start, sum(builds)::int AS builds, sum(finished)::int AS finished, sum(succeeded)::int AS succeeded, sum(failed)::int AS failed,
    sum(unsettled)::int AS unsettled, sum(stuck)::int AS stuck
  FROM rollup.days JOIN report.dim_dates USING (day)
  GROUP BY month_start
) AS month ON month.month_start = calendar.month_start
LEFT JOIN (
  SELECT month_start, (count(*) FILTER (WHERE project_id <> '-1'))::int AS projects,
    avg(succeeded::float8 / nullif(finished, 0)) FILTER (WHERE project_id <> '-1') AS success_rate_project_mean
  FROM (
    SELECT project_id, month_start, sum(finished) AS finished, sum(succeeded) AS succeeded
    FROM rollup.project_days JOIN report.dim_dates USING (day)
    GROUP BY project_id, month_start
  ) AS project_month
  GROUP BY month_start
) AS project ON project.month_start = calendar.month_start
CROSS JOIN LATERAL (
  SELECT coalesce(calendar.month_start::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_covered,
    coalesce((calendar.month_start + interval '1 month') AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_over
) AS span
CROSS JOIN LATERAL (
  SELECT coalesce(month.builds, none) AS builds, coalesce(month.finished, none) AS finished, coalesce(month.succeeded, none) AS succeeded,
    coalesce(month.failed, none) AS failed, coalesce(project.projects, none) AS projects, coalesce(month.stuck, none) AS stuck
  FROM (SELECT CASE WHEN span.is_covered THEN 0 END AS none) AS absent
) AS known
WHERE calendar.month_start <= (now() AT TIME ZONE 'UTC')::date OR month.month_start IS NOT NULL;
