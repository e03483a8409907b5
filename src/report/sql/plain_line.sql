-- The line without control characters, trimmed, 400 characters at most; null where nothing is left.
CREATE OR REPLACE FUNCTION rollup.plain_line(line text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT nullif(left(btrim(regexp_replace(regexp_replace(line, '\x1b\[[0-9;?]*[ -/]*[@-~]', '', 'g'), '[\x01-\x1f\x7f-\x9f]+', ' ', 'g')), 400), '')
$$;
