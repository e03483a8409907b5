CREATE OR REPLACE VIEW report.failing_now AS
SELECT streak.project_id, project.project_slug, streak.version_id, version.version_slug, streak.type,
  main.is_default_version AND streak.type = 'html' AS is_main, main.is_default_version,
  version.is_active, streak.failures, streak.broke_at AS failing_since, streak.first_failed_build_id, last.triggered_at AS last_failed_at,
  streak.last_failed_build_id, streak.last_succeeded_at, streak.last_succeeded_build_id, series.last_triggered_at AS last_built_at,
  last.error_class, last.error_fingerprint, last.error_line, nullif(streak.reference, '') AS reference
FROM rollup.streaks AS streak
JOIN rollup.builds AS last ON last.build_id = streak.last_failed_build_id
LEFT JOIN rollup.series ON series.project_id = streak.project_id AND series.version_id = streak.version_id AND series.type = streak.type
  AND series.reference = streak.reference
LEFT JOIN report.dim_projects AS project ON project.project_id = streak.project_id
LEFT JOIN report.dim_versions AS version ON version.version_id = streak.version_id
CROSS JOIN LATERAL (SELECT coalesce(version.is_main AND version.project_id = streak.project_id, false) AS is_default_version) AS main
WHERE streak.recovered_build_id IS NULL AND project.is_deleted IS NOT TRUE AND version.is_deleted IS NOT TRUE;
