-- What rollup.series_source counts of the last 20 finished builds, for one series: how often one ended otherwise than
-- the one before it. The index of the series has them side by side.
CREATE OR REPLACE FUNCTION rollup.recent_builds(of_project text, of_version text, of_type text, of_reference text)
RETURNS TABLE (finished int, succeeded int, flips int)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT count(*)::int, coalesce(sum(succeeded), 0)::int, (count(*) FILTER (WHERE succeeded <> before))::int
  FROM (
    SELECT succeeded, lead(succeeded) OVER (ORDER BY triggered_at DESC NULLS LAST, length(build_id) DESC, build_id DESC) AS before
    FROM (
      SELECT succeeded, triggered_at, build_id FROM rollup.builds
      WHERE project_id = of_project AND version_id = of_version AND type = of_type COLLATE "default" AND reference = of_reference COLLATE "default"
        AND of_reference <> '(none)' AND succeeded IS NOT NULL
      ORDER BY triggered_at DESC NULLS LAST, length(build_id) DESC, build_id DESC LIMIT 20
    ) AS last
  ) AS build
$$;
