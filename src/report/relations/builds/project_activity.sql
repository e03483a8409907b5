CREATE OR REPLACE VIEW report.project_activity AS
SELECT week.project_id, project.project_slug, week.week, to_char(week.week, 'IYYY"-W"IW') AS iso_week, week.builds, week.finished,
  week.succeeded, week.failed,
  week.succeeded::float8 / nullif(week.finished, 0) AS success_rate,
  report.wilson_low(week.succeeded, week.finished) AS success_rate_low,
  report.wilson_high(week.succeeded, week.finished) AS success_rate_high,
  week.active_days, week.failure_days
FROM rollup.project_weeks AS week
LEFT JOIN report.dim_projects AS project ON project.project_id = week.project_id;
