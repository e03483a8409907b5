-- A streak that is still open was broken for a time that is known, and goes on. To leave it out would make repairs look quick. The estimate is
-- that of Kaplan and Meier, "Nonparametric estimation from incomplete observations" (1958): whenever a streak ends, the share of those that
-- lasted so long and go on is one factor of the share that is still broken. Products are sums of logarithms, because SQL has only sums.
-- Each group is estimated twice: of all its streaks, and of its breaks alone, which are those of series that had worked.
CREATE OR REPLACE VIEW rollup.recovery_times_source AS
WITH streak AS (
  SELECT streak.project_id, streak.type, to_char(streak.broke_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, streak.recovered_at IS NOT NULL AS is_closed,
    streak.last_succeeded_build_id IS NOT NULL AS is_break,
    greatest(0, date_part('epoch', coalesce(streak.recovered_at, least(state.covered_through, project.deleted_at, version.deleted_at))
      - streak.broke_at)) / 3600 AS hours
  FROM rollup.streaks AS streak
  CROSS JOIN rollup.state
  LEFT JOIN report.dim_projects AS project ON project.project_id = streak.project_id AND project.deleted_at IS NOT NULL
  LEFT JOIN report.dim_versions AS version ON version.version_id = streak.version_id AND version.deleted_at IS NOT NULL
  WHERE streak.broke_at IS NOT NULL
), grouped AS (
  SELECT by_project, by_type, by_month, CASE WHEN by_project THEN streak.project_id ELSE '' END AS project_id,
    CASE WHEN by_type THEN streak.type ELSE '' END AS type, CASE WHEN by_month THEN streak.month ELSE '' END AS month,
    of_breaks, streak.is_closed, streak.hours
  FROM streak
  CROSS JOIN (VALUES (false), (true)) AS projects (by_project)
  CROSS JOIN (VALUES (false), (true)) AS types (by_type)
  CROSS JOIN (VALUES (false), (true)) AS months (by_month)
  CROSS JOIN (VALUES (false), (true)) AS halves (of_breaks)
  WHERE streak.is_break OR NOT of_breaks
), ordered AS (
  SELECT *, count(*) OVER streaks AS streaks, count(*) FILTER (WHERE is_closed) OVER streaks AS recovered,
    count(*) OVER streaks - row_number() OVER streaks + 1 AS lasted_so_long
  FROM grouped
  -- At equal times those that end come first: the open ones were still broken.
  WINDOW streaks AS (PARTITION BY by_project, by_type, by_month, project_id, type, month, of_breaks ORDER BY hours, is_closed DESC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
), estimated AS (
  SELECT *, count(*) FILTER (WHERE is_closed) OVER shorter AS recovered_until,
    -- The logarithm of 0, where none goes on, would be an error.
    sum(ln(greatest(lasted_so_long - 1, 1e-300::float8) / lasted_so_long)) FILTER (WHERE is_closed) OVER shorter AS log_broken
  FROM ordered
  WINDOW shorter AS (PARTITION BY by_project, by_type, by_month, project_id, type, month, of_breaks ORDER BY hours, is_closed DESC ROWS UNBOUNDED PRECEDING)
)
SELECT by_project, by_type, by_month, project_id, type, month,
  max(streaks) FILTER (WHERE NOT of_breaks)::int AS streaks, max(recovered) FILTER (WHERE NOT of_breaks)::int AS recovered,
  min(hours) FILTER (WHERE NOT of_breaks AND is_half) AS median_hours,
  min(hours) FILTER (WHERE NOT of_breaks AND is_quarter) AS p25_hours,
  min(hours) FILTER (WHERE NOT of_breaks AND is_three_quarters) AS p75_hours,
  min(hours) FILTER (WHERE NOT of_breaks AND is_half_of_closed) AS closed_median_hours,
  coalesce(max(streaks) FILTER (WHERE of_breaks), 0)::int AS breaks,
  coalesce(max(recovered) FILTER (WHERE of_breaks), 0)::int AS breaks_recovered,
  min(hours) FILTER (WHERE of_breaks AND is_half) AS breaks_median_hours,
  min(hours) FILTER (WHERE of_breaks AND is_quarter) AS breaks_p25_hours
FROM estimated
-- Rounded sums must not miss an exact half.
CROSS JOIN LATERAL (
  SELECT log_broken <= ln(0.5::float8) + 1e-9 AS is_half, log_broken <= ln(0.75::float8) + 1e-9 AS is_quarter,
    log_broken <= ln(0.25::float8) + 1e-9 AS is_three_quarters, is_closed AND 2 * recovered_until >= recovered AS is_half_of_closed
) AS reached
GROUP BY by_project, by_type, by_month, project_id, type, month;
