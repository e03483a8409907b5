-- The chance that k or more of n independent events happen, each with the chance p. 1 where k is at most what
-- is expected.
CREATE OR REPLACE FUNCTION rollup.binomial_tail(n integer, k integer, p float8) RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
  logarithm float8 := 0;
  term float8;
  total float8 := 0;
BEGIN
  IF k <= n * p THEN RETURN 1; END IF;
  IF p <= 0 THEN RETURN 0; END IF;
  FOR i IN 1..k LOOP
    logarithm := logarithm + ln((n - k + i)::float8 / i);
  END LOOP;
  logarithm := logarithm + k * ln(p) + (n - k) * ln(1 - p);
  -- A smaller value would be rounded to 0.
  IF logarithm < -690 THEN RETURN 0; END IF;
  term := exp(logarithm);
  FOR i IN k..n LOOP
    total := total + term;
    EXIT WHEN i = n OR term < total * 1e-17;
    term := term * (n - i) / (i + 1) * p / (1 - p);
  END LOOP;
  RETURN least(1, total);
END
$$;
