-- In the order of the index of failures by day, which has all columns.
CREATE OR REPLACE VIEW report.error_fingerprints_daily AS
SELECT triggered_on AS day, error_class, error_fingerprint, count(*)::int AS failures,
  (count(DISTINCT project_id) FILTER (WHERE project_id <> '-1'))::int AS projects
FROM rollup.builds WHERE failed = 1 AND triggered_on IS NOT NULL
GROUP BY triggered_on, error_class, error_fingerprint;
