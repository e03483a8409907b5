-- The line that says what went wrong, without control characters, 400 characters at most; null where there is none.
CREATE OR REPLACE FUNCTION rollup.error_line(error text, setup_error text, output text, setup text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT (rollup.locate_error(error, setup_error, output, setup)).excerpt
$$;
