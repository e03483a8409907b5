-- The failures at the end of a UTC day, by what is known now: results that came later count at their builds' triggers.
CREATE OR REPLACE FUNCTION report.failing_on(of_day date)
RETURNS TABLE (
  project_id text, project_slug text, version_id text, version_slug text, type text, failing_since timestamptz,
  first_failed_build_id text, error_class text, recovered_at timestamptz, reference text, series_since timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT streak.project_id, streak.project_slug, streak.version_id, streak.version_slug, streak.type, streak.broke_at,
    streak.first_failed_build_id, streak.error_class, streak.recovered_at, streak.reference, streak.series_since
  FROM report.streaks AS streak
  LEFT JOIN report.dim_projects AS project ON project.project_id = streak.project_id
  LEFT JOIN report.dim_versions AS version ON version.version_id = streak.version_id
  -- In an outer join it would be asked last, only of what failed then: the offset keeps it first.
  CROSS JOIN (SELECT (of_day + 1)::timestamp AT TIME ZONE 'UTC' AS at WHERE report.assert_known_on(of_day) OFFSET 0) AS ended
  -- A build without a date comes before those that have one.
  WHERE coalesce(streak.broke_at < ended.at, true)
    AND (streak.is_open OR streak.recovered_at >= ended.at)
    AND coalesce(project.deleted_at >= ended.at, true) AND coalesce(version.deleted_at >= ended.at, true)
$$;
COMMENT ON FUNCTION report.failing_on(date) IS 'What failed at the end of a UTC day? One row per series whose last build triggered until then failed, by the results that are known now, without projects and versions that were deleted by then. Of a day that no sync has covered it has what was known last, so count only days with is_covered in success_rate_daily. A series fails from its first known build on, series_since, so early days have too few: compare two days by the series that were known on both. A day before the first known build is an error.';
