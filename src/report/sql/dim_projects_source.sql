CREATE OR REPLACE VIEW rollup.dim_projects_source AS
SELECT project.id AS project_id, coalesce(nullif(slug, ''), project.id) AS project_slug,
  coalesce(nullif(name, ''), nullif(slug, ''), project.id) AS project_name,
  repo, repo_type, documentation_type, default_version, default_branch,
  (pub_date AT TIME ZONE state.source_timezone AT TIME ZONE 'UTC')::date AS published_on, listed AS is_listed,
  deleted_at IS NOT NULL AS is_deleted, first_seen_at, deleted_at
FROM mirror.projects AS project JOIN rollup.state ON state.id = 1 WHERE project.id <> '-1'
UNION ALL
SELECT '-1', '(unknown)', '(unknown)', NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL;
