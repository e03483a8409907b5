CREATE OR REPLACE VIEW rollup.dim_versions_source AS
SELECT id AS version_id, coalesce(project_id, '-1') AS project_id, coalesce(nullif(slug, ''), id) AS version_slug,
  verbose_name AS version_name, identifier, active AS is_active, built AS is_built, uploaded AS is_uploaded,
  deleted_at IS NOT NULL AS is_deleted, first_seen_at, deleted_at,
  CASE
    WHEN slug IN ('latest', 'stable') THEN slug
    WHEN identifier ~ '^/?(refs/)?tags/.' THEN 'tag'
    WHEN identifier ~ '^/?((refs/)?(heads|remotes)|origin|branches)/.' THEN 'branch'
    -- Servers keep a tag's commit. A name of hex digits that is its own identifier is no commit.
    WHEN identifier ~* '^[0-9a-f]{7,64}$' AND identifier IS DISTINCT FROM verbose_name THEN 'tag'
    WHEN identifier IN ('master', 'main', 'trunk', 'default', 'develop') THEN 'branch'
  END AS kind
FROM mirror.versions WHERE id <> '-1'
UNION ALL
SELECT '-1', '-1', '(unknown)', '(unknown)', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL;
