-- Every week has every class, so that a line of a chart goes down to 0.
CREATE OR REPLACE VIEW report.error_trend_weekly AS
SELECT weekly.week, weekly.iso_week, class.error_class, known.failures, known.failures / nullif(weekly.failed, 0)::float8 AS failure_share,
  known.projects, weekly.finished, known.failures / nullif(weekly.finished, 0)::float8 AS failure_rate, weekly.is_complete, weekly.is_covered
FROM report.success_rate_weekly AS weekly
CROSS JOIN (SELECT DISTINCT error_class FROM rollup.errors) AS class
LEFT JOIN (
  SELECT week, error_class, sum(failures)::int AS failures, (count(*) FILTER (WHERE project_id <> '-1'))::int AS projects
  FROM (
    SELECT triggered_on - (extract(isodow FROM triggered_on)::int - 1) AS week, error_class, project_id, count(*) AS failures
    FROM rollup.builds WHERE failed = 1 AND triggered_on IS NOT NULL
    GROUP BY 1, 2, 3
  ) AS project
  GROUP BY week, error_class
) AS error ON error.week = weekly.week AND error.error_class = class.error_class
-- A week that no sync has covered has null counts.
CROSS JOIN LATERAL (
  SELECT CASE WHEN weekly.finished IS NOT NULL THEN coalesce(error.failures, 0) END AS failures,
    CASE WHEN weekly.finished IS NOT NULL THEN coalesce(error.projects, 0) END AS projects
) AS known;
