CREATE OR REPLACE VIEW report.muted_projects AS
SELECT project_slug, until, muted_at
FROM sync.muted_projects
WHERE until > now();
