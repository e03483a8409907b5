-- The lower end is report.rate_difference_low.
CREATE OR REPLACE FUNCTION report.rate_difference_high(succeeded float8, finished float8, succeeded_before float8, finished_before float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT CASE WHEN finished > 0 AND finished_before > 0 THEN succeeded / finished - succeeded_before / finished_before
    + sqrt((report.wilson_high(succeeded, finished) - succeeded / finished) ^ 2
      + (succeeded_before / finished_before - report.wilson_low(succeeded_before, finished_before)) ^ 2) END
$$;
COMMENT ON FUNCTION report.rate_difference_high(float8, float8, float8, float8) IS 'Upper end of the 95 % interval of succeeded / finished - succeeded_before / finished_before, by Newcombe (1998), method 10; null where nothing finished in one of the two.';
