-- True for the version that readers of a project see first. The one place that says so; of a build it is the project
-- that the build names, also where the version belongs to another.
CREATE OR REPLACE FUNCTION rollup.is_main(version_slug text, default_version text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT coalesce(version_slug = coalesce(nullif(default_version, ''), 'latest'), false)
$$;
