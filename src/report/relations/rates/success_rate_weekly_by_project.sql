CREATE OR REPLACE VIEW report.success_rate_weekly_by_project AS
SELECT week.week, to_char(week.week, 'IYYY"-W"IW') AS iso_week, week.project_id, project.project_slug,
  week.builds, week.finished, week.succeeded, week.failed,
  week.succeeded::float8 / nullif(week.finished, 0) AS success_rate,
  report.wilson_low(week.succeeded, week.finished) AS success_rate_low,
  report.wilson_high(week.succeeded, week.finished) AS success_rate_high,
  week.builds - week.finished AS unfinished,
  coalesce((week.week + 7)::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AND week.unsettled = 0 AS is_complete,
  coalesce(week.week::timestamp AT TIME ZONE 'UTC' <= state.covered_through, false) AS is_covered,
  week.stuck
FROM rollup.project_weeks AS week
CROSS JOIN rollup.state
LEFT JOIN report.dim_projects AS project ON project.project_id = week.project_id;
