-- The streaks of failures of one series: of all its builds, or of those since a moment. A streak that is under way at that moment is
-- cut there. Builds that name no version may belong to several series, so they have no streaks. The builds are
-- read from their index, in its order, which has the default collation for types; the rows of builds are read for the ends alone.
CREATE OR REPLACE FUNCTION rollup.streaks_of(of_project text, of_version text, of_type text, of_reference text, since timestamptz)
RETURNS TABLE (
  first_failed_build_id text, last_failed_build_id text, last_succeeded_build_id text, last_succeeded_at timestamptz,
  recovered_build_id text, recovered_at timestamptz, recovered_after timestamptz, recovered_before timestamptz,
  failures int, broke_at timestamptz, failed_after timestamptz, failed_before timestamptz, error_class text
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT streak.first_failed_build_id, streak.last_failed_build_id, streak.last_succeeded_build_id,
    succeeded.triggered_at, streak.recovered_build_id, recovered.triggered_at, recovered.finished_after,
    recovered.finished_before, streak.failures, failed.triggered_at, failed.finished_after, failed.finished_before,
    failed.error_class
  FROM (
    SELECT max(build_id) FILTER (WHERE before IS DISTINCT FROM 0) AS first_failed_build_id,
      max(build_id) FILTER (WHERE after IS DISTINCT FROM 0) AS last_failed_build_id,
      max(build_before) FILTER (WHERE before = 1) AS last_succeeded_build_id,
      max(build_after) FILTER (WHERE after = 1) AS recovered_build_id,
      count(*)::int AS failures
    FROM (
      SELECT build_id, succeeded,
        sum(succeeded) OVER oldest AS successes_before,
        lag(succeeded) OVER oldest AS before, lag(build_id) OVER oldest AS build_before,
        lead(succeeded) OVER oldest AS after, lead(build_id) OVER oldest AS build_after
      FROM (
        SELECT build_id, succeeded, triggered_at FROM rollup.builds
        WHERE project_id = of_project AND version_id = of_version AND type = of_type COLLATE "default" AND reference = of_reference COLLATE "default"
          AND of_reference <> '(none)' AND succeeded IS NOT NULL
          AND triggered_at >= since
        UNION ALL
        SELECT build_id, succeeded, triggered_at FROM rollup.builds
        WHERE project_id = of_project AND version_id = of_version AND type = of_type COLLATE "default" AND reference = of_reference COLLATE "default"
          AND of_reference <> '(none)' AND succeeded IS NOT NULL
          AND since IS NULL
      ) AS build
      WINDOW oldest AS (ORDER BY triggered_at NULLS FIRST, length(build_id), build_id ROWS UNBOUNDED PRECEDING)
    ) AS build
    WHERE succeeded = 0
    GROUP BY successes_before
  ) AS streak
  JOIN rollup.builds AS failed ON failed.build_id = streak.first_failed_build_id
  LEFT JOIN rollup.builds AS succeeded ON succeeded.build_id = streak.last_succeeded_build_id
  LEFT JOIN rollup.builds AS recovered ON recovered.build_id = streak.recovered_build_id
$$;
