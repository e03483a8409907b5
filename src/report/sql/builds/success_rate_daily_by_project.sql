CREATE OR REPLACE VIEW report.success_rate_daily_by_project AS
SELECT calendar.day, active.project_id, project.project_slug, known.builds, known.finished, known.succeeded, known.failed,
  day.succeeded::float8 / nullif(day.finished, 0) AS success_rate,
  report.wilson_low(day.succeeded, day.finished) AS success_rate_low,
  report.wilson_high(day.succeeded, day.finished) AS success_rate_high,
  known.builds - known.finished AS unfinished,
  span.is_over AND coalesce(day.unsettled, 0) = 0 AS is_complete,
  span.is_covered, known.stuck
FROM report.dim_dates AS calendar
CROSS JOIN rollup.state
JOIN (
  SELECT project_id, (min(first_triggered_at) AT TIME ZONE 'UTC')::date AS first_day,
    greatest((max(last_triggered_at) AT TIME ZONE 'UTC')::date, (now() AT TIME ZONE 'UTC')::date) AS last_day
  FROM rollup.series GROUP BY project_id
) AS active ON calendar.day BETWEEN active.first_day AND active.last_day
LEFT JOIN report.dim_projects AS project ON project.project_id = active.project_id
LEFT JOIN rollup.project_days AS day ON day.project_id = active.project_id AND day.day = calendar.day
CROSS JOIN LATERAL (
  SELECT coalesce(calendar.day::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_covered,
    coalesce((calendar.day + 1)::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_over
) AS span
CROSS JOIN LATERAL (
  SELECT coalesce(day.builds, none) AS builds, coalesce(day.finished, none) AS finished, coalesce(day.succeeded, none) AS succeeded,
    coalesce(day.failed, none) AS failed, coalesce(day.stuck, none) AS stuck
  FROM (SELECT CASE WHEN span.is_covered THEN 0 END AS none) AS absent
) AS known
-- A day before 2000 is in the calendar because of a single build, perhaps of another project.
WHERE calendar.day BETWEEN '2000-01-01' AND (now() AT TIME ZONE 'UTC')::date OR day.day IS NOT NULL;
