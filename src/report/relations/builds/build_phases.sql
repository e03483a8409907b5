-- Undated builds are found here too, as in fact_builds.
CREATE OR REPLACE VIEW report.build_phases AS
SELECT build.build_id, build.project_id, project.project_slug, build.version_id, version.version_slug, build.type, build.outcome,
  build.triggered_at, build.triggered_on, build.queued_s_min, build.queued_s_max, build.building_s_min, build.building_s_max
FROM rollup.builds AS build
LEFT JOIN report.dim_projects AS project ON project.project_id = build.project_id
LEFT JOIN report.dim_versions AS version ON version.version_id = build.version_id
WHERE build.queued_s_min IS NOT NULL;
