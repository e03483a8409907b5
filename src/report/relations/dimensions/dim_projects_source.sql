-- programming_language is not documented. The field `language`, where it is sent, is that of the texts (en).
CREATE OR REPLACE VIEW rollup.dim_projects_source AS
SELECT project.id AS project_id, coalesce(nullif(slug, ''), project.id) AS project_slug,
  coalesce(nullif(name, ''), nullif(slug, ''), project.id) AS project_name,
  nullif(repo, '') AS repo, nullif(repo_type, '') AS repo_type, nullif(documentation_type, '') AS documentation_type,
  nullif(default_version, '') AS default_version, nullif(default_branch, '') AS default_branch,
  (pub_date AT TIME ZONE state.source_timezone AT TIME ZONE 'UTC')::date AS published_on, listed AS is_listed,
  deleted_at IS NOT NULL AS is_deleted, first_seen_at, deleted_at, nullif(theme, '') AS theme, nullif(left(sent_name, 100), '') AS programming_language,
  use_virtualenv
FROM mirror.projects AS project JOIN rollup.state ON state.id = 1
CROSS JOIN LATERAL (SELECT project.extra -> 'values' -> 'programming_language' AS sent) AS undocumented
-- Some servers send a name, some an object with a code and a name; anything else is no language.
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN jsonb_typeof(sent) = 'string' THEN sent #>> '{}'
    WHEN jsonb_typeof(sent -> 'name') = 'string' THEN sent ->> 'name'
    WHEN jsonb_typeof(sent -> 'code') = 'string' THEN sent ->> 'code'
  END AS sent_name
) AS language
WHERE project.id <> '-1'
UNION ALL
SELECT '-1', '(unknown)', '(unknown)', NULL, NULL, NULL, NULL, NULL, NULL, false, false, NULL, NULL, NULL, NULL, NULL;
