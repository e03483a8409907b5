CREATE OR REPLACE VIEW report.fact_builds AS
SELECT build.build_id, build.project_id, project.project_slug, project.project_name, build.version_id, version.version_slug,
  version.version_name, build.type, coalesce(version.is_main AND version.project_id = build.project_id, false) AND build.type = 'html' AS is_main, build.state, build.outcome,
  build.succeeded, build.failed, build.triggered_at, build.triggered_on, calendar.week AS triggered_week, calendar.iso_week AS triggered_iso_week,
  calendar.month AS triggered_month, build.is_time_ambiguous, build.finished_after, build.finished_before, build.duration_s_min,
  build.duration_s_max,
  CASE WHEN build.duration_s_max - build.duration_s_min <= greatest(60, build.duration_s_max / 4)
    THEN (build.duration_s_min + build.duration_s_max) / 2 END AS duration_s,
  build.queued_s_min, build.queued_s_max, build.building_s_min, build.building_s_max, build.error_class, build.error_fingerprint,
  build.error_line_id, build.error_line, build.first_seen_at, build.deleted_at, build.is_settled, nullif(build.reference, '') AS reference,
  build.ahead_until IS NOT NULL AS is_dated_ahead, build.updated_at AS fact_updated_at,
  greatest(build.updated_at, project.renamed_at, version.renamed_at) AS updated_at
FROM rollup.builds AS build
LEFT JOIN report.dim_projects AS project ON project.project_id = build.project_id
LEFT JOIN report.dim_versions AS version ON version.version_id = build.version_id
LEFT JOIN report.dim_dates AS calendar ON calendar.day = build.triggered_on;
