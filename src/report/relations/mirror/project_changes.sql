-- Who administrates a project is for report_people, and a field that docmirror does not know may name people too.
CREATE OR REPLACE VIEW report.project_changes AS
SELECT change.id AS change_id, change.record_id AS project_id, coalesce(project.project_slug, change.record_id) AS project_slug, change.observed_at, change.kind, field.name AS field,
  change.before ->> field.name AS before, change.after ->> field.name AS after, change.run_id
FROM mirror.changes AS change
LEFT JOIN LATERAL (
  SELECT name FROM jsonb_object_keys(change.after) AS name WHERE name NOT IN ('users', 'extra')
) AS field ON true
LEFT JOIN report.dim_projects AS project ON project.project_id = change.record_id
WHERE change.resource = 'project' AND (field.name IS NOT NULL OR change.kind <> 'updated');
