-- Series, failures and stuck builds of a project stand below each other, so that one pass sums them up: joins of sums, whose sizes nobody can guess,
-- took four times as long. Projects that never finished a build are not good but unknown, and what only deleted versions,
-- or builds without a version, finished says nothing about today.
CREATE OR REPLACE VIEW report.project_states AS
SELECT project.project_id, project.project_slug, project.project_name,
  CASE WHEN total.main > 0 THEN 'main_failing' WHEN total.failing > 0 THEN 'failing' WHEN total.known > 0 THEN 'good' ELSE 'unknown' END AS state,
  coalesce(total.failing, 0)::int AS failing, total.failing_since, total.newest_failing_since, total.main_failing_since,
  coalesce(total.stuck, 0)::int AS stuck,
  coalesce(total.builds, 0) AS builds, coalesce(total.finished, 0) AS finished, coalesce(total.succeeded, 0) AS succeeded,
  coalesce(total.failed, 0) AS failed, rate.success_rate, rate.success_rate_low, rate.success_rate_high, total.last_triggered_at,
  total.oldest_failing_since, success.at AS last_succeeded_at,
  CASE WHEN total.main > 0 THEN 'failing' WHEN total.main_known > 0 THEN 'good' ELSE 'unknown' END AS main_state
FROM report.dim_projects AS project
LEFT JOIN (
  SELECT project_id, sum(builds) AS builds, sum(finished) AS finished, sum(succeeded) AS succeeded, sum(failed) AS failed,
    sum(known) AS known, sum(main_known) AS main_known, max(last_triggered_at) AS last_triggered_at, sum(stuck) AS stuck, sum(failing) AS failing,
    max(failing_since) FILTER (WHERE is_worst) AS failing_since, max(failing_since) AS newest_failing_since,
    min(failing_since) AS oldest_failing_since, sum(main) AS main,
    max(failing_since) FILTER (WHERE main = 1) AS main_failing_since
  FROM (
    SELECT series.project_id, series.builds, series.finished, series.succeeded, series.failed,
      CASE WHEN version.is_deleted IS NOT TRUE AND series.reference <> '(none)' THEN series.finished ELSE 0 END AS known,
      CASE WHEN version.is_main AND NOT version.is_deleted AND version.project_id = series.project_id AND series.type = 'html'
        THEN series.finished ELSE 0 END AS main_known,
      series.last_triggered_at, 0 AS stuck, 0 AS failing, 0 AS main, null::timestamptz AS failing_since, false AS is_worst
    FROM rollup.series AS series
    LEFT JOIN report.dim_versions AS version ON version.version_id = series.version_id
    UNION ALL
    -- The worst of a project as in failing_projects.
    SELECT project_id, 0, 0, 0, 0, 0, 0, null, 0, 1, main, broke_at,
      row_number() OVER (PARTITION BY project_id ORDER BY main DESC, last_succeeded_build_id IS NULL, broke_at NULLS LAST) = 1
    FROM (
      SELECT streak.project_id, streak.broke_at, streak.last_succeeded_build_id,
        (coalesce(version.is_main AND version.project_id = streak.project_id, false) AND streak.type = 'html')::int AS main
      FROM rollup.streaks AS streak
      LEFT JOIN report.dim_versions AS version ON version.version_id = streak.version_id
      WHERE streak.recovered_build_id IS NULL AND version.is_deleted IS NOT TRUE
    ) AS streak
    UNION ALL
    SELECT project_id, 0, 0, 0, 0, 0, 0, null, 1, 0, 0, null, false FROM rollup.builds WHERE outcome = 'stuck' AND last_seen_at IS NOT NULL
  ) AS own
  GROUP BY project_id
) AS total ON total.project_id = project.project_id
-- Its last success is one of the last day with one.
LEFT JOIN LATERAL (
  SELECT max(triggered_at) AS at FROM rollup.builds AS build
  WHERE build.project_id = project.project_id AND build.succeeded = 1 AND build.triggered_on = (
    SELECT max(day) FROM rollup.project_days WHERE project_days.project_id = project.project_id AND project_days.succeeded > 0)
) AS success ON true
CROSS JOIN LATERAL report.success_rate(total.succeeded, total.finished) AS rate
WHERE NOT project.is_deleted AND project.project_id <> '-1';
