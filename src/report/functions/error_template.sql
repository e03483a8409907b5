-- An error line with tokens such as <path> for what may differ. With `keep_names` only places go: paths, numbers,
-- hashes and dates of one build; else also what may be the cause: names, packages, files, versions, URLs and
-- addresses. Lines are hostile, so no expression refers back to what it matched: Postgres would try all ways to match.
CREATE OR REPLACE FUNCTION rollup.error_template(line text, keep_names boolean) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  template text := line;
  -- A server keeps 32 compiled expressions, and a line may need nearly all of them: with one more than 32 it compiles
  -- each of them anew for each line. So what needs none is written without.
  has_digits CONSTANT boolean := line <> translate(line, '0123456789', '');
BEGIN
  -- Most lines contain few of these, and the search for a character costs a hundredth of a regular
  -- expression.
  IF NOT keep_names AND position('://' IN template) > 0 THEN
    template := regexp_replace(template, '[a-z][a-z0-9+.-]*://[^\s''"`<>)]+', '<url>', 'gi');
    -- Quotes say that it is a name, as a fingerprint has it; a reader wants to know that it was an address.
    template := replace(replace(template, '''<url>''', '<quoted_url>'), '"<url>"', '<quoted_url>');
  END IF;
  IF NOT keep_names AND position('@' IN template) > 0 THEN
    template := regexp_replace(template, '[\w.+-]+@[\w-]+(?:\.[\w-]+)+', '<address>', 'g');
  END IF;
  IF has_digits THEN
    IF position('-' IN template) > 0 THEN
      template := regexp_replace(template, '\m[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\M', '<hash>', 'gi');
    END IF;
    -- After a colon it is the place in a file.
    template := regexp_replace(template, '\m\d{4}-\d{2}-\d{2}(?:[t ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:z|[+-]\d{2}:?\d{2})?)?|(?<!:)\m\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\M', '<date>', 'gi');
  END IF;
  IF NOT keep_names THEN
    IF position('(from ' IN lower(template)) > 0 THEN
      -- Who asked for a package.
      template := regexp_replace(template, ' *\(from [^()]*(?:\([^()]*\)[^()]*)*\)', '', 'gi');
    END IF;
    IF template <> translate(template, '''"`“‘«„‹', '') THEN
      IF position('/' IN template) > 0 THEN
        template := regexp_replace(template, '(?<!\w)[bfru]{0,2}(?:"[^\s"]*/[^\s"]*"|''[^\s''`]*/[^\s''`]*'')(?!\w)', '<path>', 'gi');
      END IF;
      -- One to three words are a name, more are a sentence. An apostrophe within a word neither begins nor ends a name.
      template := regexp_replace(template,
        '(?<!\w)[bfru]{0,2}(?:"[^\s"]+(?: [^\s"]+){0,2}"|[''`]{1,2}(?:[^\s''`]|(?<=\w)''(?=\w))+(?: (?:[^\s''`]|(?<=\w)''(?=\w))+){0,2}[''`]{1,2}'
        '|[“‘«„‹][^\s“”‘’«»„‹›]+(?: [^\s“”‘’«»„‹›]+){0,2}[”’»“›])(?!\w)', '<name>', 'gi');
    END IF;
    IF template <> translate(template, '=~!<>', '') THEN
      -- A requirement of a package, such as sphinx[docs]>=1.8,<2; no token that a number follows.
      template := regexp_replace(template, '(?<![\w<])\w[\w.-]*(?:\[[\w ,.-]*\])? ?(?:={2,3}|[~!<>]=|[<>]) ?v?\d[\w.*+!-]*(?:, ?(?:={2,3}|[~!<>]=|[<>]) ?v?\d[\w.*+!-]*)*', '<name>', 'gi');
    END IF;
  END IF;
  IF position('/' IN template) > 0 OR position('\' IN template) > 0 THEN
    -- A file, or what is deep in folders. A URL is none, and a branch may have one slash.
    template := regexp_replace(template, '\m[a-z]:\\[^\s''"]+|(?<![\w/.@+%~<-])(?:~|\.{1,2})?(?:/[\w.@+%~-]+)+/?'
      '|(?<![\w/.@+%~<:-])[\w.@+%~-]+(?:(?:/[\w.@+%~-]+){2,}/?|/[\w@+%~-]*\.[a-z]\w*)', '<path>', 'gi');
    IF NOT keep_names THEN
      template := regexp_replace(template, '(?:~|\.{1,2})?(?:/[\w.@+%~-]+){2,}/?|[\w.@+%~-]+(?:/[\w.@+%~-]+)+/?|(?<![\w<])/[\w.@+%~-]+/?', '<name>', 'g');
    END IF;
  END IF;
  IF has_digits AND position('.' IN template) > 0 THEN
    template := regexp_replace(template, '(?<![\w/.@+-])\w[\w+-]*(?:\.[\w+-]+)*\.[a-z_]\w*(?=:\d)', '<path>', 'gi');
  END IF;
  IF NOT keep_names THEN
    IF position('.' IN template) > 0 THEN
      -- Which error it is says the last word, whatever module it is from.
      template := regexp_replace(template, '\m(?:[a-z_]\w*\.)+(\w*(?:error|exception|warning))\M', '\1', 'gi');
      template := regexp_replace(template, '\m\w[\w+-]*(?:\.[\w+-]+)*\.[a-z_][\w+-]*', '<name>', 'gi');
    END IF;
    -- Where a name stands without quotes.
    template := regexp_replace(template,
      '\m((?:module|theme) named|import (?:name|extension)|found for|the requirement|wheels? for|locate package|remote (?:branch|ref)|undefined label:) [\w.+-]+(?:\[[\w ,.-]*\])?', '\1 <name>', 'gi');
    IF position('package ' IN lower(template)) > 0 THEN
      template := regexp_replace(template, '\m(package) [\w.+-]+ ((?:is (?:missing|not)|was not|not (?:found|installed)|has no|requires|could not be found)\M)', '\1 <name> \2', 'gi');
    END IF;
  END IF;
  IF has_digits THEN
    -- The expression for a hash costs more than all others, so it is only for lines with seven digits of one in a row.
    IF position('0x' IN lower(template)) > 0 OR position('0000000' IN translate(lower(template), '123456789abcdef', '000000000000000')) > 0 THEN
      IF keep_names THEN
        -- Seven digits without a letter are a number.
        template := regexp_replace(template, '\m(?:0x[0-9a-f]+|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7}[0-9a-f]*)\M', '<hash>', 'gi');
      ELSE
        template := regexp_replace(template, '\m(?:0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{7}[0-9a-f]*)\M', '<hash>', 'gi');
      END IF;
    END IF;
    IF keep_names THEN
      -- A number within a name, a requirement or a version is a part of it.
      template := regexp_replace(template, '(?<![\w./=~<>!@''"`-])\d+(?:,\d+)*(?:\.\d+)?(?=(?:[kmg]i?b|m?s|%)?(?:[^\w.]|\.\D|\.?$))', '<n>', 'gi');
    ELSE
      template := regexp_replace(template, '\mv?\d+(?:[.,]\d+)*(?:[-.]?(?:a|b|c|rc|alpha|beta|dev|post|pre)\d*)*\M(?:\.\*)?|\d+(?:[.,]\d+)*', '<n>', 'gi');
    END IF;
  END IF;
  RETURN btrim(regexp_replace(template, '\s+', ' ', 'g'));
END
$$;
