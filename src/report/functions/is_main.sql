-- True for the version that readers of its project see first, '' standing for a project that names none. The one place that says so. An
-- unknown project, null, has no such version.
CREATE OR REPLACE FUNCTION rollup.is_main(version_slug text, default_version text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT coalesce(version_slug = CASE default_version WHEN '' THEN 'latest' ELSE default_version END, false)
$$;
