CREATE OR REPLACE VIEW report.success_rate_monthly AS
SELECT calendar.month, calendar.month_start, known.builds, known.finished, known.succeeded, known.failed,
  month.succeeded::float8 / nullif(month.finished, 0) AS success_rate,
  report.wilson_low(month.succeeded, month.finished) AS success_rate_low,
  report.wilson_high(month.succeeded, month.finished) AS success_rate_high,
  month.success_rate_project_mean, known.projects, known.builds - known.finished AS unfinished,
  span.is_over AND coalesce(month.unsettled, 0) = 0 AS is_complete,
  span.is_covered, known.stuck
FROM (SELECT DISTINCT month, month_start FROM report.dim_dates) AS calendar
CROSS JOIN rollup.state
LEFT JOIN rollup.months AS month ON month.month_start = calendar.month_start
CROSS JOIN LATERAL (
  SELECT coalesce(calendar.month_start::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_covered,
    coalesce((calendar.month_start + interval '1 month') AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_over
) AS span
CROSS JOIN LATERAL (
  SELECT coalesce(month.builds, none) AS builds, coalesce(month.finished, none) AS finished, coalesce(month.succeeded, none) AS succeeded,
    coalesce(month.failed, none) AS failed, coalesce(month.stuck, none) AS stuck, coalesce(month.projects, none) AS projects
  FROM (SELECT CASE WHEN span.is_covered THEN 0 END AS none) AS absent
) AS known
WHERE calendar.month_start <= (now() AT TIME ZONE 'UTC')::date OR month.month_start IS NOT NULL;
