-- The interval of one proportion less another, by method 10 of Newcombe, "Interval estimation for the difference between independent
-- proportions" (1998): it joins the two Wilson intervals. Counts of any type are cast to float8 without being asked.
CREATE OR REPLACE FUNCTION report.rate_difference_low(succeeded float8, finished float8, succeeded_before float8, finished_before float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT CASE WHEN finished > 0 AND finished_before > 0 THEN succeeded / finished - succeeded_before / finished_before
    - sqrt((succeeded / finished - report.wilson_low(succeeded, finished)) ^ 2
      + (report.wilson_high(succeeded_before, finished_before) - succeeded_before / finished_before) ^ 2) END
$$;
COMMENT ON FUNCTION report.rate_difference_low(float8, float8, float8, float8) IS 'Lower end of the 95 % interval of succeeded / finished - succeeded_before / finished_before, by Newcombe (1998), method 10; null where nothing finished in one of the two.';
