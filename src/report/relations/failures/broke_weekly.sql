CREATE OR REPLACE VIEW report.broke_weekly AS
SELECT calendar.week, calendar.iso_week, coalesce(turn.broke, known.none) AS broke, coalesce(turn.fixed, known.none) AS fixed,
  coalesce(turn.born_broken, known.none) AS born_broken, coalesce(turn.projects_broke, known.none) AS projects_broke,
  coalesce(turn.projects_fixed, known.none) AS projects_fixed, coalesce(turn.projects_born_broken, known.none) AS projects_born_broken,
  calendar.is_complete, calendar.is_covered
FROM report.success_rate_weekly AS calendar
CROSS JOIN LATERAL (SELECT CASE WHEN calendar.is_covered THEN 0 END AS none) AS known
LEFT JOIN (
  SELECT date_trunc('week', day::timestamp)::date AS week,
    (count(*) FILTER (WHERE turn = 'broke'))::int AS broke, (count(*) FILTER (WHERE turn = 'fixed'))::int AS fixed,
    (count(*) FILTER (WHERE turn = 'born_broken'))::int AS born_broken,
    (count(DISTINCT nullif(project_id, '-1')) FILTER (WHERE turn = 'broke'))::int AS projects_broke,
    (count(DISTINCT nullif(project_id, '-1')) FILTER (WHERE turn = 'fixed'))::int AS projects_fixed,
    (count(DISTINCT nullif(project_id, '-1')) FILTER (WHERE turn = 'born_broken'))::int AS projects_born_broken
  FROM rollup.turns
  GROUP BY 1
) AS turn ON turn.week = calendar.week;
