-- A day without builds has no row: every day of every project would be millions, and nearly all of them empty.
CREATE OR REPLACE VIEW report.success_rate_daily_by_project AS
SELECT day.day, day.project_id, project.project_slug, day.builds, day.finished, day.succeeded, day.failed,
  rate.success_rate, rate.success_rate_low, rate.success_rate_high,
  day.builds - day.finished - day.cancelled AS unfinished,
  coalesce((day.day + 1)::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AND day.unsettled = 0
    AND coalesce(day.day > first.day, false) AS is_complete,
  coalesce(day.day::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_covered,
  day.stuck, day.cancelled
FROM rollup.project_days AS day
CROSS JOIN rollup.state
CROSS JOIN rollup.first_day AS first
CROSS JOIN LATERAL report.success_rate(day.succeeded, day.finished) AS rate
LEFT JOIN report.dim_projects AS project ON project.project_id = day.project_id;
