-- A value that came is described, never quoted.
CREATE OR REPLACE VIEW report.schema_changes AS
SELECT resource, field, kind, detail, min(observed_at) AS observed_at
FROM sync.drift
GROUP BY resource, field, kind, detail;
