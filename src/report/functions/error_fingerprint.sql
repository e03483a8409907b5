-- The same for all error lines that differ only in names, packages, files, paths, versions, URLs, addresses,
-- dates, hashes and numbers.
CREATE OR REPLACE FUNCTION rollup.error_fingerprint(line text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  template text := replace(replace(replace(lower(rollup.error_template(line, false)), '<path>', '<name>'), '<quoted_url>', '<name>'), '<hash>', '<n>');
BEGIN
  IF position('<' IN template) > 0 THEN
    -- The place in a file, and lists of any length.
    template := regexp_replace(template, '<name>(?::<n>)+', '<name>', 'g');
    template := regexp_replace(template, '<name>(?:,? (?:and |or )?<name>)+', '<name>', 'g');
    template := regexp_replace(template, '<n>(?:,? (?:and |or )?<n>)+', '<n>', 'g');
  END IF;
  RETURN left(md5(template), 16);
END
$$;
