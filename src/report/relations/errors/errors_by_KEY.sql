-- The failures of each class, of each fingerprint and of each line, ranked by the projects that they hit. This is the text of three views:
-- KEY is error_class, error_fingerprint or error_line_id. Of one view for all three Postgres would guess the sizes, and plan badly.
-- Rules may give two lines of one fingerprint different classes, so the class of a fingerprint or a line is that of its newest failure.
CREATE OR REPLACE VIEW rollup.errors_by_KEY AS
SELECT error.KEY, row_number() OVER (ORDER BY error.projects DESC, error.failures DESC, error.KEY) AS rank,
  last.error_class AS last_error_class, error.fingerprint, error.masked_line, last.error_line AS example, error.failures,
  error.failures / sum(error.failures) OVER ()::float8 AS failure_share, error.projects,
  error.projects / nullif((
    SELECT count(*) FROM (SELECT FROM rollup.series WHERE failed > 0 AND project_id <> '-1' GROUP BY project_id) AS that_failed
  ), 0)::float8 AS project_share,
  error.first_triggered_at::timestamptz(6) AS first_triggered_at, error.last_triggered_at::timestamptz(6) AS last_triggered_at, error.last_build_id,
  coalesce(recent.failures_last_7_days, 0) AS failures_last_7_days, coalesce(recent.failures_7_days_before, 0) AS failures_7_days_before,
  coalesce(recent.projects_last_7_days, 0) AS projects_last_7_days, coalesce(recent.projects_7_days_before, 0) AS projects_7_days_before
FROM (
  SELECT KEY, max(error_fingerprint) AS fingerprint, max(masked_line) AS masked_line, sum(failures)::int AS failures,
    (count(DISTINCT project_id) FILTER (WHERE project_id <> '-1'))::int AS projects,
    min(first_triggered_at) AS first_triggered_at, max(last_triggered_at) AS last_triggered_at,
    (array_agg(last_build_id ORDER BY last_triggered_at DESC NULLS LAST, length(last_build_id) DESC, last_build_id DESC))[1] AS last_build_id
  FROM rollup.errors GROUP BY KEY
) AS error
LEFT JOIN (
  SELECT KEY,
    (count(*) FILTER (WHERE is_last))::int AS failures_last_7_days,
    (count(*) FILTER (WHERE NOT is_last))::int AS failures_7_days_before,
    (count(DISTINCT project_id) FILTER (WHERE is_last AND project_id <> '-1'))::int AS projects_last_7_days,
    (count(DISTINCT project_id) FILTER (WHERE NOT is_last AND project_id <> '-1'))::int AS projects_7_days_before
  FROM (
    SELECT KEY, project_id, triggered_on > (SELECT day - 7 FROM rollup.last_day) AS is_last FROM rollup.builds
    -- Subqueries, so that the index of failures by day is used.
    WHERE failed = 1 AND triggered_on > (SELECT day - 14 FROM rollup.last_day) AND triggered_on <= (SELECT day FROM rollup.last_day)
  ) AS failure
  GROUP BY KEY
) AS recent USING (KEY)
LEFT JOIN rollup.builds AS last ON last.build_id = error.last_build_id;
