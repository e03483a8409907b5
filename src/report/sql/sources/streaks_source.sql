-- Builds that name neither project nor version may belong to several series: they have no streaks.
-- For all series at once: one sort costs less than a visit to each. Single ones are computed by rollup.streaks_of.
CREATE OR REPLACE VIEW rollup.streaks_source AS
SELECT streak.project_id, streak.version_id, streak.type, streak.reference, streak.first_failed_build_id, streak.last_failed_build_id,
  streak.last_succeeded_build_id, succeeded.triggered_at AS last_succeeded_at,
  streak.recovered_build_id, recovered.triggered_at AS recovered_at, recovered.finished_after AS recovered_after,
  recovered.finished_before AS recovered_before, streak.failures, failed.triggered_at AS failed_at, failed.finished_after AS failed_after,
  failed.finished_before AS failed_before, failed.error_class
FROM (
  SELECT project_id, version_id, type, reference,
    max(build_id) FILTER (WHERE before IS DISTINCT FROM 0) AS first_failed_build_id,
    max(build_id) FILTER (WHERE after IS DISTINCT FROM 0) AS last_failed_build_id,
    max(build_before) FILTER (WHERE before = 1) AS last_succeeded_build_id,
    max(build_after) FILTER (WHERE after = 1) AS recovered_build_id,
    count(*)::int AS failures
  FROM (
    SELECT project_id, version_id, type, reference, build_id, failed,
      sum(succeeded) OVER oldest AS successes_before,
      lag(succeeded) OVER oldest AS before, lag(build_id) OVER oldest AS build_before,
      lead(succeeded) OVER oldest AS after, lead(build_id) OVER oldest AS build_after
    FROM rollup.builds WHERE succeeded IS NOT NULL AND reference <> '(none)'
    WINDOW oldest AS (
      PARTITION BY project_id, version_id, type, reference ORDER BY triggered_at NULLS FIRST, length(build_id), build_id
      ROWS UNBOUNDED PRECEDING
    )
  ) AS build
  WHERE failed = 1
  GROUP BY project_id, version_id, type, reference, successes_before
) AS streak
JOIN rollup.builds AS failed ON failed.build_id = streak.first_failed_build_id
LEFT JOIN rollup.builds AS succeeded ON succeeded.build_id = streak.last_succeeded_build_id
LEFT JOIN rollup.builds AS recovered ON recovered.build_id = streak.recovered_build_id;
