-- The part that all error lines of one fingerprint share, from one of them. Its body is bound when it is created, so a role
-- needs no right on schema rollup.
CREATE OR REPLACE FUNCTION report.error_mask(line text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT rollup.masked_line(line, false);
END;
COMMENT ON FUNCTION report.error_mask(text) IS 'What all error lines of one fingerprint share, given one of them, such as: No module named ‹name›. A name or an address may be the cause; a path, a number, a hash or a date is only a place.';
