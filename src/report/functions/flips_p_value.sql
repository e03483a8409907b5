-- The chance that so many succeeded and failed builds, in random order, change their result as often as this or more: the test
-- of runs by Wald and Wolfowitz, "On a test whether two samples are from the same population" (1940). It is exact, because it
-- counts the orders: 20 builds have 184,756 at most. Null where all have one result, which has one order.
--
-- Runs of successes and of failures take turns, so there are as many of both, or one more of those that come first. To cut so many
-- builds into runs is to choose the places of the cuts. The function names nothing of schema rollup, where a reader may not look.
CREATE OR REPLACE FUNCTION rollup.flips_p_value(succeeded integer, failed integer, flips integer) RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
  -- In how many ways successes, and failures, can be cut so often, and once more.
  successes float8 := 1;
  failures float8 := 1;
  next_successes float8;
  next_failures float8;
  odd float8;
  even float8;
  orders float8 := 0;
  unlikely float8 := 0;
BEGIN
  IF succeeded = 0 OR failed = 0 THEN RETURN NULL; END IF;
  FOR cuts IN 0..least(succeeded, failed) - 1 LOOP
    next_successes := successes * (succeeded - 1 - cuts) / (cuts + 1);
    next_failures := failures * (failed - 1 - cuts) / (cuts + 1);
    odd := 2 * successes * failures;
    even := next_successes * failures + successes * next_failures;
    orders := orders + odd + even;
    IF 2 * cuts + 1 >= flips THEN unlikely := unlikely + odd; END IF;
    IF 2 * cuts + 2 >= flips THEN unlikely := unlikely + even; END IF;
    successes := next_successes;
    failures := next_failures;
  END LOOP;
  RETURN unlikely / orders;
END
$$;
