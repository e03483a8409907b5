-- Rules may give two lines of one fingerprint different classes, so its class is that of the newest.
CREATE OR REPLACE VIEW report.error_fingerprints AS
SELECT row_number() OVER (ORDER BY error.projects DESC, error.failures DESC, error.error_fingerprint) AS rank,
  last.error_class, error.error_fingerprint, last.error_line AS example, error.failures,
  error.failures / sum(error.failures) OVER ()::float8 AS failure_share, error.projects,
  error.projects / nullif((SELECT projects FROM rollup.projects_that_failed), 0)::float8 AS project_share,
  error.first_triggered_at::timestamptz(6) AS first_triggered_at, error.last_triggered_at::timestamptz(6) AS last_triggered_at, error.last_build_id,
  coalesce(recent.failures_last_7_days, 0) AS failures_last_7_days, coalesce(recent.failures_7_days_before, 0) AS failures_7_days_before,
  coalesce(recent.projects_last_7_days, 0) AS projects_last_7_days, coalesce(recent.projects_7_days_before, 0) AS projects_7_days_before,
  rollup.masked_line(last.error_line, false) AS mask
FROM (
  SELECT error_fingerprint, sum(failures)::int AS failures, (count(DISTINCT project_id) FILTER (WHERE project_id <> '-1'))::int AS projects,
    min(first_triggered_at) AS first_triggered_at, max(last_triggered_at) AS last_triggered_at,
    (array_agg(last_build_id ORDER BY last_triggered_at DESC NULLS LAST, length(last_build_id) DESC, last_build_id DESC))[1] AS last_build_id
  FROM rollup.errors GROUP BY error_fingerprint
) AS error
LEFT JOIN (
  SELECT error_fingerprint,
    (count(*) FILTER (WHERE is_last))::int AS failures_last_7_days,
    (count(*) FILTER (WHERE NOT is_last))::int AS failures_7_days_before,
    (count(DISTINCT project_id) FILTER (WHERE is_last AND project_id <> '-1'))::int AS projects_last_7_days,
    (count(DISTINCT project_id) FILTER (WHERE NOT is_last AND project_id <> '-1'))::int AS projects_7_days_before
  FROM rollup.recent_failures
  GROUP BY error_fingerprint
) AS recent USING (error_fingerprint)
LEFT JOIN rollup.builds AS last ON last.build_id = error.last_build_id;
