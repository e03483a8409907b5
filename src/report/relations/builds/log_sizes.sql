-- The length of a text that is stored apart is known without reading it.
CREATE OR REPLACE VIEW report.log_sizes AS
SELECT log.build_id, size.setup + size.setup_error + size.output + size.error AS log_bytes, size.setup AS setup_bytes,
  size.setup_error AS setup_error_bytes, size.output AS output_bytes, size.error AS error_bytes
FROM mirror.build_logs AS log
CROSS JOIN LATERAL (
  SELECT coalesce(octet_length(log.setup), 0)::bigint AS setup, coalesce(octet_length(log.setup_error), 0)::bigint AS setup_error,
    coalesce(octet_length(log.output), 0)::bigint AS output, coalesce(octet_length(log.error), 0)::bigint AS error
) AS size;
