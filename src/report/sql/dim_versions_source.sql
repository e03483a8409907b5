CREATE OR REPLACE VIEW rollup.dim_versions_source AS
SELECT id AS version_id, coalesce(project_id, '-1') AS project_id, coalesce(nullif(slug, ''), id) AS version_slug,
  verbose_name AS version_name, identifier, active AS is_active, built AS is_built, uploaded AS is_uploaded,
  deleted_at IS NOT NULL AS is_deleted, first_seen_at, deleted_at
FROM mirror.versions WHERE id <> '-1'
UNION ALL
SELECT '-1', '-1', '(unknown)', '(unknown)', NULL, NULL, NULL, NULL, false, NULL, NULL;
