-- The class of an error line, by the first rule that matches, and its fingerprint.
CREATE OR REPLACE FUNCTION rollup.describe_error(line text, OUT error_class text, OUT error_fingerprint text)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
AS $$
BEGIN
  error_class := coalesce((SELECT class FROM report.error_rules WHERE line ~* pattern ORDER BY position LIMIT 1), 'unclassified');
  error_fingerprint := rollup.error_fingerprint(line);
END
$$;
