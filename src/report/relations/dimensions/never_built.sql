CREATE OR REPLACE VIEW report.never_built AS
SELECT version.version_id, version.project_id, project.project_slug, version.version_slug, version.version_name, version.is_active,
  version.is_built, version.is_uploaded, version.first_seen_at
FROM report.dim_versions AS version
LEFT JOIN report.dim_projects AS project ON project.project_id = version.project_id
WHERE NOT version.is_deleted AND version.version_id <> '-1'
  AND NOT EXISTS (SELECT FROM rollup.series WHERE series.version_id = version.version_id);
