CREATE OR REPLACE VIEW rollup.dim_versions_source AS
SELECT version.id AS version_id, coalesce(version.project_id, '-1') AS project_id, named.version_slug, nullif(verbose_name, '') AS version_name,
  nullif(identifier, '') AS identifier, active AS is_active, built AS is_built, uploaded AS is_uploaded, version.deleted_at IS NOT NULL AS is_deleted,
  version.first_seen_at, version.deleted_at,
  CASE
    WHEN version.slug IN ('latest', 'stable') THEN version.slug
    WHEN identifier ~ '^/?(refs/)?tags/.' THEN 'tag'
    WHEN identifier ~ '^/?((refs/)?(heads|remotes)|origin|branches)/.' THEN 'branch'
    -- Servers keep a tag's commit. A name of hex digits that is its own identifier is no commit.
    WHEN identifier ~* '^[0-9a-f]{7,64}$' AND identifier IS DISTINCT FROM verbose_name THEN 'tag'
    WHEN identifier IN ('master', 'main', 'trunk', 'default', 'develop') THEN 'branch'
  END AS kind,
  rollup.is_main(named.version_slug, CASE WHEN project.id <> '-1' THEN coalesce(project.default_version, '') END) AS is_main
FROM mirror.versions AS version
CROSS JOIN LATERAL (SELECT coalesce(nullif(version.slug, ''), version.id) AS version_slug) AS named
LEFT JOIN mirror.projects AS project ON project.id = version.project_id
WHERE version.id <> '-1'
UNION ALL
SELECT '-1', '-1', '(unknown)', '(unknown)', NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, false;
