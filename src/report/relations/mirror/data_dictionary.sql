CREATE OR REPLACE VIEW report.data_dictionary AS
SELECT relation.relname::text AS relation, obj_description(relation.oid, 'pg_class') AS relation_comment, attribute.attnum::int AS position,
  attribute.attname::text AS column_name, format_type(attribute.atttypid, attribute.atttypmod) AS data_type,
  col_description(relation.oid, attribute.attnum) AS description
FROM pg_catalog.pg_class AS relation
JOIN pg_catalog.pg_attribute AS attribute ON attribute.attrelid = relation.oid
WHERE relation.relnamespace = 'report'::regnamespace AND relation.relkind IN ('r', 'v', 'm')
  AND attribute.attnum > 0 AND NOT attribute.attisdropped;
