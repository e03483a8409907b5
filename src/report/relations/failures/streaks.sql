CREATE OR REPLACE VIEW report.streaks AS
SELECT streak.project_id, project.project_slug, streak.version_id, version.version_slug, streak.type, streak.failures,
  streak.first_failed_build_id, streak.broke_at, streak.failed_after, streak.failed_before, streak.recovered_build_id,
  streak.recovered_at, streak.recovered_after, streak.recovered_before,
  extract(epoch FROM streak.recovered_at - streak.broke_at)::float8 / 3600 AS hours_to_recover,
  greatest(0, coalesce(extract(epoch FROM CASE WHEN streak.recovered_build_id IS NULL THEN state.covered_through ELSE streak.recovered_after END
    - streak.failed_before), 0))::float8 AS recovery_s_min,
  CASE WHEN streak.failed_after IS NOT NULL AND streak.recovered_before IS NOT NULL THEN greatest(0, extract(epoch FROM streak.recovered_before - streak.failed_after)) END::float8
    AS recovery_s_max,
  streak.recovered_build_id IS NULL AS is_open,
  streak.recovered_build_id IS NOT NULL AND coalesce(streak.recovered_after < streak.failed_before, true) AS is_overlapped,
  streak.error_class, streak.last_succeeded_build_id IS NOT NULL AS worked_before, nullif(streak.reference, '') AS reference,
  coalesce(version.is_main AND version.project_id = streak.project_id, false) AND streak.type = 'html' AS is_main,
  coalesce(project.is_deleted OR version.is_deleted, false) AS is_deleted, series.first_triggered_at AS series_since
FROM rollup.streaks AS streak
CROSS JOIN rollup.state
LEFT JOIN rollup.series USING (project_id, version_id, type, reference)
LEFT JOIN report.dim_projects AS project ON project.project_id = streak.project_id
LEFT JOIN report.dim_versions AS version ON version.version_id = streak.version_id;
