-- Whether a version is the one that readers of its project see first. The one place that says so.
CREATE OR REPLACE FUNCTION rollup.is_main(version_slug text, default_version text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT coalesce(version_slug = coalesce(nullif(default_version, ''), 'latest'), false)
$$;
