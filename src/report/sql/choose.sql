-- In how many ways k of n can be chosen. Each step is a whole number, so that the result is exact up to 2^53.
CREATE OR REPLACE FUNCTION rollup.choose(n integer, k integer) RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
  ways float8 := 1;
BEGIN
  IF k < 0 OR k > n THEN RETURN 0; END IF;
  FOR i IN 1..k LOOP
    ways := ways * (n - k + i) / i;
  END LOOP;
  RETURN ways;
END
$$;
