CREATE OR REPLACE VIEW report.files AS
SELECT file.id AS file_id, coalesce(file.project_id, '-1') AS project_id, coalesce(project.project_slug, '(unknown)') AS project_slug,
  nullif(file.path, '') AS path, nullif(file.name, '') AS name, nullif(file.absolute_url, '') AS url, file.deleted_at IS NOT NULL AS is_deleted,
  file.first_seen_at, file.deleted_at, content.version AS version_slug, content.http_status::int AS http_status, content.reason, nullif(content.title, '') AS title,
  content.fetched_at, content.asked_at
FROM mirror.files AS file
LEFT JOIN mirror.file_contents AS content ON content.file_id = file.id
LEFT JOIN report.dim_projects AS project ON project.project_id = file.project_id;
