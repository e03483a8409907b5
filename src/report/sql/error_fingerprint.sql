-- The same for all error lines that differ only in URLs, addresses, dates, paths, hashes and numbers.
CREATE OR REPLACE FUNCTION rollup.error_fingerprint(line text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  template text := lower(line);
BEGIN
  -- Most lines contain few of these, and the search for a character costs a hundredth of a regular
  -- expression.
  IF position('://' IN template) > 0 THEN
    template := regexp_replace(template, '[a-z][a-z0-9+.-]*://[^\s''"<>)]+', '<url>', 'g');
  END IF;
  IF position('@' IN template) > 0 THEN
    template := regexp_replace(template, '[\w.+-]+@[\w-]+(\.[\w-]+)+', '<address>', 'g');
  END IF;
  IF template ~ '\d' THEN
    template := regexp_replace(template, '\m[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\M', '<hash>', 'g');
    template := regexp_replace(template, '\m\d{4}-\d{2}-\d{2}([t ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(z|[+-]\d{2}:?\d{2})?)?|\m\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\M', '<date>', 'g');
  END IF;
  IF position('/' IN template) > 0 OR position('\' IN template) > 0 THEN
    template := regexp_replace(template, '\m[a-z]:\\[^\s''"]+|(~|\.{1,2})?(/[\w.@+%~-]+){2,}/?|[\w.@+%~-]+(/[\w.@+%~-]+)+/?|(?<![\w<])/[\w.@+%~-]+/?', '<path>', 'g');
  END IF;
  IF template ~ '\d' THEN
    template := regexp_replace(template, '\m(0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{7,64})\M', '<hash>', 'g');
    template := regexp_replace(template, '\d+([.,]\d+)*', '<n>', 'g');
  END IF;
  template := regexp_replace(template, '\s+', ' ', 'g');
  RETURN left(md5(template), 16);
END
$$;
