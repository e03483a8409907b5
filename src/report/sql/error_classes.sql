CREATE OR REPLACE VIEW report.error_classes AS
SELECT row_number() OVER (ORDER BY error.projects DESC, error.failures DESC, error.error_fingerprint, error.error_class) AS rank,
  error.error_class, error.error_fingerprint, last.output_excerpt AS example, error.failures,
  error.failures / sum(error.failures) OVER ()::float8 AS failure_share, error.projects,
  error.projects / nullif((SELECT count(*) FROM (SELECT FROM rollup.series WHERE failed > 0 AND project_id <> '-1' GROUP BY project_id) AS hit), 0)::float8
    AS project_share,
  error.first_triggered_at::timestamptz(6) AS first_triggered_at, error.last_triggered_at::timestamptz(6) AS last_triggered_at, error.last_build_id
FROM (
  SELECT error_class, error_fingerprint, sum(failures)::int AS failures, sum(projects)::int AS projects,
    min(first_triggered_at) AS first_triggered_at, max(last_triggered_at) AS last_triggered_at,
    (array_agg(last_build_id ORDER BY last_triggered_at DESC NULLS LAST, length(last_build_id) DESC, last_build_id DESC))[1] AS last_build_id
  FROM rollup.errors GROUP BY error_class, error_fingerprint
) AS error
LEFT JOIN rollup.builds AS last ON last.build_id = error.last_build_id;
