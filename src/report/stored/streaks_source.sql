-- Builds that name neither project nor version may belong to several series: they have no streaks.
-- For all series at once: one sort costs less than a visit to each, and neighbours that bring along what they have less than
-- joins. Single ones are computed by rollup.streaks_of. A moment keeps the type that it had, as max() does not: so Postgres can
-- replace this view where somebody's own needs one of ours.
CREATE OR REPLACE VIEW rollup.streaks_source AS
SELECT project_id, version_id, type, reference,
  max(build_id) FILTER (WHERE is_first) AS first_failed_build_id,
  max(build_id) FILTER (WHERE after IS DISTINCT FROM 0) AS last_failed_build_id,
  max(build_before) FILTER (WHERE before = 1) AS last_succeeded_build_id,
  (max(trigger_before) FILTER (WHERE before = 1))::timestamptz(6) AS last_succeeded_at,
  max(build_after) FILTER (WHERE after = 1) AS recovered_build_id,
  (max(trigger_after) FILTER (WHERE after = 1))::timestamptz(6) AS recovered_at,
  (max(finish_after_from) FILTER (WHERE after = 1))::timestamptz(6) AS recovered_after,
  (max(finish_after_to) FILTER (WHERE after = 1))::timestamptz(6) AS recovered_before,
  count(*)::int AS failures,
  (max(triggered_at) FILTER (WHERE is_first))::timestamptz(6) AS broke_at,
  (max(finished_after) FILTER (WHERE is_first))::timestamptz(6) AS failed_after,
  (max(finished_before) FILTER (WHERE is_first))::timestamptz(6) AS failed_before,
  max(error_class) FILTER (WHERE is_first) AS error_class
FROM (
  SELECT project_id, version_id, type, reference, build_id, failed, triggered_at, finished_after, finished_before, error_class,
    sum(succeeded) OVER oldest AS successes_before,
    lag(succeeded) OVER oldest AS before, lag(succeeded) OVER oldest IS DISTINCT FROM 0 AS is_first,
    lag(build_id) OVER oldest AS build_before, lag(triggered_at) OVER oldest AS trigger_before,
    lead(succeeded) OVER oldest AS after, lead(build_id) OVER oldest AS build_after, lead(triggered_at) OVER oldest AS trigger_after,
    lead(finished_after) OVER oldest AS finish_after_from, lead(finished_before) OVER oldest AS finish_after_to
  FROM rollup.builds WHERE succeeded IS NOT NULL AND reference <> '(none)'
  WINDOW oldest AS (
    PARTITION BY project_id, version_id, type, reference ORDER BY triggered_at NULLS FIRST, length(build_id), build_id
    ROWS UNBOUNDED PRECEDING
  )
) AS build
WHERE failed = 1
GROUP BY project_id, version_id, type, reference, successes_before;
