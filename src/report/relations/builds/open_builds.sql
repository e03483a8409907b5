CREATE OR REPLACE VIEW report.open_builds AS
SELECT build.build_id, build.project_id, project.project_slug, build.version_id, version.version_slug, build.type, build.state,
  build.outcome, build.triggered_at, build.last_seen_at,
  sync.open_seconds(build.last_seen_at, build.triggered_at, build.first_seen_at) AS age_s
FROM rollup.builds AS build
LEFT JOIN report.dim_projects AS project ON project.project_id = build.project_id
LEFT JOIN report.dim_versions AS version ON version.version_id = build.version_id
WHERE build.last_seen_at IS NOT NULL;
