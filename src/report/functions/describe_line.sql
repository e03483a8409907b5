-- The class of an error line, by the first rule that matches, its fingerprint, and the line without the places of
-- one build. Lines with one id have one fingerprint.
CREATE OR REPLACE FUNCTION rollup.describe_line(
  line text, OUT error_class text, OUT error_fingerprint text, OUT masked_line text, OUT error_line_id text
)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
AS $$
BEGIN
  -- No rule is tried after the first that matches.
  error_class := coalesce((
    SELECT class FROM (SELECT class, pattern FROM report.error_rules ORDER BY position OFFSET 0) AS rule WHERE line ~* pattern LIMIT 1
  ), 'unclassified');
  error_fingerprint := rollup.error_fingerprint(line);
  masked_line := rollup.masked_line(line, true);
  error_line_id := left(md5(concat_ws(' ', error_fingerprint, masked_line)), 16);
END
$$;
