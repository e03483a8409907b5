-- The same rows as rollup.builds_source, for all builds at once. Most error lines are equal, so each
-- different one is classified once.
CREATE OR REPLACE VIEW rollup.all_builds_source AS
WITH fact AS MATERIALIZED (
  SELECT * FROM rollup.build_facts
), line AS MATERIALIZED (
  SELECT error_line, described.*
  FROM (SELECT DISTINCT error_line FROM fact WHERE error_line IS NOT NULL) AS known
  CROSS JOIN LATERAL rollup.describe_error(error_line) AS described
)
SELECT fact.*, nullif(error_line, '') AS output_excerpt, line.error_class, line.error_fingerprint
FROM fact LEFT JOIN line USING (error_line);
