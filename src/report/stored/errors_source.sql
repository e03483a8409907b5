CREATE OR REPLACE VIEW rollup.errors_source AS
SELECT error_class, error_fingerprint, count(*)::int AS failures, (project_id <> '-1')::int AS projects,
  min(triggered_at) AS first_triggered_at, max(triggered_at) AS last_triggered_at,
  (array_agg(build_id ORDER BY triggered_at DESC NULLS LAST, length(build_id) DESC, build_id DESC))[1] AS last_build_id,
  project_id, error_line_id, max(masked_line) AS masked_line
FROM rollup.builds WHERE failed = 1
GROUP BY error_class, error_fingerprint, error_line_id, project_id;
