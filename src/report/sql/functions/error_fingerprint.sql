-- The same for all error lines that differ only in names, packages, files, paths, versions, URLs, addresses,
-- dates, hashes and numbers. Lines are hostile, so no expression refers back to what it matched: Postgres would
-- try all ways to match.
CREATE OR REPLACE FUNCTION rollup.error_fingerprint(line text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  template text := lower(line);
BEGIN
  -- Most lines contain few of these, and the search for a character costs a hundredth of a regular
  -- expression.
  IF position('://' IN template) > 0 THEN
    template := regexp_replace(template, '[a-z][a-z0-9+.-]*://[^\s''"`<>)]+', '<url>', 'g');
  END IF;
  IF position('@' IN template) > 0 THEN
    template := regexp_replace(template, '[\w.+-]+@[\w-]+(?:\.[\w-]+)+', '<address>', 'g');
  END IF;
  IF template ~ '\d' THEN
    template := regexp_replace(template, '\m[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\M', '<n>', 'g');
    -- After a colon it is the place in a file.
    template := regexp_replace(template, '\m\d{4}-\d{2}-\d{2}(?:[t ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:z|[+-]\d{2}:?\d{2})?)?|(?<!:)\m\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\M', '<date>', 'g');
  END IF;
  IF position('(from ' IN template) > 0 THEN
    -- Who asked for a package.
    template := regexp_replace(template, ' *\(from [^()]*(?:\([^()]*\)[^()]*)*\)', '', 'g');
  END IF;
  IF template ~ '[''"`“‘«„‹]' THEN
    -- One to three words are a name, more are a sentence. An apostrophe within a word neither begins nor ends a name.
    template := regexp_replace(template,
      '(?<!\w)[bfru]{0,2}(?:"[^\s"]+(?: [^\s"]+){0,2}"|[''`]{1,2}(?:[^\s''`]|(?<=\w)''(?=\w))+(?: (?:[^\s''`]|(?<=\w)''(?=\w))+){0,2}[''`]{1,2}'
      '|[“‘«„‹][^\s“”‘’«»„‹›]+(?: [^\s“”‘’«»„‹›]+){0,2}[”’»“›])(?!\w)', '<name>', 'g');
  END IF;
  IF template ~ '[=~!<>]' THEN
    -- What a package must be, such as sphinx[docs]>=1.8,<2.
    template := regexp_replace(template, '\w[\w.-]*(?:\[[\w ,.-]*\])? ?(?:={2,3}|[~!<>]=|[<>]) ?v?\d[\w.*+!-]*(?:, ?(?:={2,3}|[~!<>]=|[<>]) ?v?\d[\w.*+!-]*)*', '<name>', 'g');
  END IF;
  IF position('/' IN template) > 0 OR position('\' IN template) > 0 THEN
    template := regexp_replace(template, '\m[a-z]:\\[^\s''"]+|(?:~|\.{1,2})?(?:/[\w.@+%~-]+){2,}/?|[\w.@+%~-]+(?:/[\w.@+%~-]+)+/?|(?<![\w<])/[\w.@+%~-]+/?', '<name>', 'g');
  END IF;
  IF position('.' IN template) > 0 THEN
    -- Which error it is says the last word, whatever module it is from.
    template := regexp_replace(template, '\m(?:[a-z_]\w*\.)+(\w*(?:error|exception|warning))\M', '\1', 'g');
    template := regexp_replace(template, '\m\w[\w+-]*(?:\.[\w+-]+)*\.[a-z_][\w+-]*', '<name>', 'g');
  END IF;
  -- Where a name stands without quotes.
  template := regexp_replace(template,
    '\m(module named|import name|found for|the requirement|wheels? for|locate package|remote branch|remote ref|import extension|undefined label:|theme named) [\w.+-]+(?:\[[\w ,.-]*\])?', '\1 <name>', 'g');
  template := regexp_replace(template, '\m(package) [\w.+-]+ ((?:is (?:missing|not)|was not|not (?:found|installed)|has no|requires|could not be found)\M)', '\1 <name> \2', 'g');
  IF template ~ '\d' THEN
    template := regexp_replace(template, '\m(?:0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{7,64})\M', '<n>', 'g');
    template := regexp_replace(template, '\mv?\d+(?:[.,]\d+)*(?:[-.]?(?:a|b|c|rc|alpha|beta|dev|post|pre)\d*)*\M(?:\.\*)?|\d+(?:[.,]\d+)*', '<n>', 'g');
  END IF;
  -- The place in a file, and lists of any length.
  template := regexp_replace(template, '<name>(?::<n>)+', '<name>', 'g');
  template := regexp_replace(template, '<name>(?:,? (?:and |or )?<name>)+', '<name>', 'g');
  template := regexp_replace(template, '<n>(?:,? (?:and |or )?<n>)+', '<n>', 'g');
  template := btrim(regexp_replace(template, '\s+', ' ', 'g'));
  RETURN left(md5(template), 16);
END
$$;
