CREATE OR REPLACE VIEW report.success_rate_weekly AS
SELECT calendar.week, calendar.iso_week, known.builds, known.finished, known.succeeded, known.failed,
  week.succeeded::float8 / nullif(week.finished, 0) AS success_rate,
  report.wilson_low(week.succeeded, week.finished) AS success_rate_low,
  report.wilson_high(week.succeeded, week.finished) AS success_rate_high,
  week.success_rate_project_mean, known.projects, known.builds - known.finished AS unfinished,
  span.is_over AND coalesce(week.unsettled, 0) = 0 AS is_complete,
  span.is_covered, known.stuck
FROM (SELECT DISTINCT week, iso_week FROM report.dim_dates) AS calendar
CROSS JOIN rollup.state
LEFT JOIN rollup.weeks AS week ON week.week = calendar.week
CROSS JOIN LATERAL (
  SELECT coalesce(calendar.week::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_covered,
    coalesce((calendar.week + 7)::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_over
) AS span
CROSS JOIN LATERAL (
  SELECT coalesce(week.builds, none) AS builds, coalesce(week.finished, none) AS finished, coalesce(week.succeeded, none) AS succeeded,
    coalesce(week.failed, none) AS failed, coalesce(week.stuck, none) AS stuck, coalesce(week.projects, none) AS projects
  FROM (SELECT CASE WHEN span.is_covered THEN 0 END AS none) AS absent
) AS known
WHERE calendar.week <= (now() AT TIME ZONE 'UTC')::date OR week.week IS NOT NULL;
