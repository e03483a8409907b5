-- The one place where a rate and its interval come from. A query that adds up counts calls it for its sums, so nobody averages rates.
-- One SELECT that returns a table, so that Postgres can inline it where it stands behind FROM.
CREATE OR REPLACE FUNCTION report.success_rate(succeeded float8, finished float8)
RETURNS TABLE (success_rate float8, success_rate_low float8, success_rate_high float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 1
AS $$
  SELECT succeeded / nullif(finished, 0), report.wilson_low(succeeded, finished), report.wilson_high(succeeded, finished)
$$;
COMMENT ON FUNCTION report.success_rate(float8, float8) IS 'succeeded / finished, with its 95 % interval by Wilson (1927), z = 1.96; null where nothing finished. A query that groups asks for that of its sums: (report.success_rate(sum(succeeded), sum(finished))).*';
