CREATE OR REPLACE VIEW report.time_to_recover AS
SELECT CASE WHEN by_project THEN time.project_id END AS project_id, project.project_slug, CASE WHEN by_type THEN type END AS type,
  CASE WHEN by_month THEN month END AS month, streaks, recovered, streaks - recovered AS still_open,
  median_hours, p25_hours, p75_hours, closed_median_hours,
  breaks, breaks_recovered, breaks_median_hours, breaks_p25_hours
FROM rollup.recovery_times AS time
LEFT JOIN report.dim_projects AS project ON by_project AND project.project_id = time.project_id;
