-- Each series is visited by itself, also where all are computed: one sort of all builds takes longer. A moment keeps the type that it
-- had, as the result of a function does not: so Postgres can replace this view where somebody's own needs one of ours.
CREATE OR REPLACE VIEW rollup.streaks_source AS
SELECT series.project_id, series.version_id, series.type, series.reference, first_failed_build_id, last_failed_build_id,
  last_succeeded_build_id, last_succeeded_at::timestamptz(6) AS last_succeeded_at, recovered_build_id,
  recovered_at::timestamptz(6) AS recovered_at, recovered_after::timestamptz(6) AS recovered_after,
  recovered_before::timestamptz(6) AS recovered_before, failures, broke_at::timestamptz(6) AS broke_at,
  failed_after::timestamptz(6) AS failed_after, failed_before::timestamptz(6) AS failed_before, error_class
FROM rollup.series
CROSS JOIN LATERAL rollup.streaks_of(series.project_id, series.version_id, series.type, series.reference, NULL);
