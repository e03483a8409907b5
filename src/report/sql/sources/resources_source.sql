CREATE OR REPLACE VIEW rollup.resources_source AS
SELECT 'user' AS resource, count(*) FILTER (WHERE deleted_at IS NULL) AS records, count(deleted_at) AS deleted_records FROM mirror.users
UNION ALL SELECT 'project', count(*) FILTER (WHERE deleted_at IS NULL), count(deleted_at) FROM mirror.projects
UNION ALL SELECT 'version', count(*) FILTER (WHERE deleted_at IS NULL), count(deleted_at) FROM mirror.versions
UNION ALL SELECT 'build', count(*) FILTER (WHERE deleted_at IS NULL), count(deleted_at) FROM mirror.builds
UNION ALL SELECT 'file', count(*) FILTER (WHERE deleted_at IS NULL), count(deleted_at) FROM mirror.files;
