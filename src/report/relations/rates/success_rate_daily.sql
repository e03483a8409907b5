CREATE OR REPLACE VIEW report.success_rate_daily AS
SELECT calendar.day, known.builds, known.finished, known.succeeded, known.failed, rate.success_rate, rate.success_rate_low,
  rate.success_rate_high, day.success_rate_project_mean, known.projects, known.builds - known.finished - known.cancelled AS unfinished,
  span.is_over AND coalesce(day.unsettled, 0) = 0 AND coalesce(calendar.day > first.day, false) AS is_complete, span.is_covered, known.stuck,
  known.cancelled
FROM report.dim_dates AS calendar
CROSS JOIN rollup.state
CROSS JOIN rollup.first_day AS first
LEFT JOIN rollup.days AS day ON day.day = calendar.day
CROSS JOIN LATERAL report.success_rate(day.succeeded, day.finished) AS rate
CROSS JOIN LATERAL (
  SELECT coalesce(calendar.day::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_covered,
    coalesce((calendar.day + 1)::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_over
) AS span
-- A day that no sync has covered has null counts; a covered day without builds has 0.
CROSS JOIN LATERAL (
  SELECT coalesce(day.builds, none) AS builds, coalesce(day.finished, none) AS finished, coalesce(day.succeeded, none) AS succeeded,
    coalesce(day.failed, none) AS failed, coalesce(day.stuck, none) AS stuck, coalesce(day.cancelled, none) AS cancelled, coalesce(day.projects, none) AS projects
  FROM (SELECT CASE WHEN span.is_covered THEN 0 END AS none) AS absent
) AS known
WHERE calendar.day <= (now() AT TIME ZONE 'UTC')::date OR day.day IS NOT NULL;
