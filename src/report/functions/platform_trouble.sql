-- The trouble of the platform that a moment is in: its first hour, and its newest. Hours with no three between them are one trouble.
-- It counts for so many hours after its newest one. The page of now and the notices both ask by this.
CREATE OR REPLACE FUNCTION report.platform_trouble(moment timestamptz, hours_after int DEFAULT 3)
RETURNS TABLE (
  since timestamptz, hour timestamptz, until timestamptz, projects bigint, projects_failing bigint, projects_expected float8,
  builds bigint, failed bigint
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
  SELECT newest.since, newest.hour, least(newest.hour + interval '1 hour', moment), newest.projects, newest.projects_failing,
    newest.projects_expected, newest.builds, newest.failed
  FROM (
    SELECT spell.*, max(spell.hour) FILTER (WHERE spell.begins) OVER (ORDER BY spell.hour) AS since
    FROM (
      SELECT incident.*, coalesce(incident.hour > lag(incident.hour) OVER (ORDER BY incident.hour) + interval '3 hours', true) AS begins
      FROM report.incident_hours AS incident WHERE incident.hour <= moment
    ) AS spell
  ) AS newest
  WHERE newest.hour >= date_trunc('hour', moment, 'UTC') - make_interval(hours => hours_after)
  ORDER BY newest.hour DESC LIMIT 1
$$;
COMMENT ON FUNCTION report.platform_trouble(timestamptz, int) IS 'Is the platform in trouble at a moment, and since when? One row with the first and the newest hour of the trouble, none where no hour of the last three had any.';
