CREATE OR REPLACE VIEW report.error_classes AS
SELECT row_number() OVER (ORDER BY error.projects DESC, error.failures DESC, error.error_fingerprint, error.error_class) AS rank,
  error.error_class, error.error_fingerprint, last.output_excerpt AS example, error.failures,
  error.failures / sum(error.failures) OVER ()::float8 AS failure_share, error.projects,
  error.projects / nullif((SELECT count(*) FROM (SELECT FROM rollup.series WHERE failed > 0 AND project_id <> '-1' GROUP BY project_id) AS hit), 0)::float8
    AS project_share,
  error.first_triggered_at, error.last_triggered_at, error.last_build_id
FROM rollup.errors AS error
LEFT JOIN rollup.builds AS last ON last.build_id = error.last_build_id;
