-- The chance that so many succeeded and failed builds, in random order, change their result as often as this or more: the test
-- of runs by Wald and Wolfowitz, "On a test whether two samples are from the same population" (1940). It is exact, because it
-- counts the orders: 20 builds have 184,756 at most. Null where all have one result, which has one order.
CREATE OR REPLACE FUNCTION rollup.flips_p_value(succeeded integer, failed integer, flips integer) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  -- Runs of successes and of failures take turns, so there are as many of both, or one more of those that come first.
  SELECT sum(rollup.choose(succeeded - 1, flip / 2) * rollup.choose(failed - 1, (flip - 1) / 2)
    + rollup.choose(succeeded - 1, (flip - 1) / 2) * rollup.choose(failed - 1, flip / 2)) / rollup.choose(succeeded + failed, succeeded)
  FROM generate_series(greatest(flips, 1), succeeded + failed - 1) AS flip
  WHERE succeeded > 0 AND failed > 0
$$;
