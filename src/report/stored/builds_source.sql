CREATE OR REPLACE VIEW rollup.builds_source AS
SELECT fact.*, nullif(fact.found_line, '') AS error_line, described.error_class, described.error_fingerprint,
  described.masked_line, described.error_line_id
FROM rollup.build_facts AS fact LEFT JOIN LATERAL rollup.describe_line(fact.found_line) AS described ON true;
