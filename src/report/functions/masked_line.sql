-- An error line with masks for what differs, such as ‹path› and ‹number›: with `keep_names` the line that builds
-- with the same error share, else what all lines of its fingerprint share. Its body is bound when it is created, so
-- a role that reads it through a view needs no right on schema rollup.
CREATE OR REPLACE FUNCTION rollup.masked_line(line text, keep_names boolean) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT left(replace(replace(replace(replace(replace(replace(replace(replace(replace(merged.template,
    '<name>', '‹name›'), '<path>', '‹path›'), '<hash>', '‹hash›'), '<date>', '‹date›'), '<n>', '‹number›'), '<number>', '‹number›'),
    '<url>', '‹address›'), '<quoted_url>', '‹address›'), '<address>', '‹address›'), 400)
  FROM (
    -- Lists of any length.
    SELECT regexp_replace(regexp_replace(regexp_replace(rollup.error_template(line, keep_names),
      '<name>(?:,? (?:and |or )?<name>)+', '<name>', 'g'),
      '<path>(?:,? (?:and |or )?<path>)+', '<path>', 'g'),
      '<n>(?:,? (?:and |or )?<n>)+', '<n>', 'g') AS template
  ) AS merged;
END;
