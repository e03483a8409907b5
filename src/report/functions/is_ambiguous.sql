CREATE OR REPLACE FUNCTION rollup.is_ambiguous(local timestamp, zone text) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
  RETURN (SELECT hour IS NOT NULL FROM mirror.read_local_time(local, zone));
END
$$;
