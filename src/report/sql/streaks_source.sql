CREATE OR REPLACE VIEW rollup.streaks_source AS
SELECT series.project_id, series.version_id, series.type, streak.first_failed_build_id, streak.last_failed_build_id,
  streak.last_succeeded_build_id, streak.last_succeeded_at, streak.recovered_build_id, streak.recovered_at, streak.recovered_after,
  streak.recovered_before, streak.failures, streak.failed_at, streak.failed_after, streak.failed_before, streak.error_class
FROM rollup.series
CROSS JOIN LATERAL rollup.streaks_of(series.project_id, series.version_id, series.type, NULL) AS streak
WHERE series.failed > 0;
