CREATE OR REPLACE VIEW rollup.streaks_source AS
SELECT series.project_id, series.version_id, series.type, streak.first_failed_build_id COLLATE "C" AS first_failed_build_id,
  streak.last_failed_build_id COLLATE "C" AS last_failed_build_id, streak.last_succeeded_build_id COLLATE "C" AS last_succeeded_build_id,
  streak.last_succeeded_at::timestamptz(6) AS last_succeeded_at, streak.recovered_build_id COLLATE "C" AS recovered_build_id,
  streak.recovered_at::timestamptz(6) AS recovered_at, streak.recovered_after::timestamptz(6) AS recovered_after,
  streak.recovered_before::timestamptz(6) AS recovered_before, streak.failures, streak.failed_at::timestamptz(6) AS failed_at,
  streak.failed_after::timestamptz(6) AS failed_after, streak.failed_before::timestamptz(6) AS failed_before, streak.error_class
FROM rollup.series
CROSS JOIN LATERAL rollup.streaks_of(series.project_id, series.version_id, series.type, NULL) AS streak
WHERE series.failed > 0;
