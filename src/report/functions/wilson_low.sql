-- One expression, so that Postgres can inline it. Counts and sums of any type are cast to float8 without being asked.
CREATE OR REPLACE FUNCTION report.wilson_low(succeeded float8, finished float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT CASE WHEN finished > 0 AND succeeded = 0 THEN 0 WHEN finished > 0 AND succeeded > 0 THEN greatest(0::float8, (succeeded + 1.9208::float8
    - 1.96::float8 * sqrt(succeeded * (finished - succeeded) / finished + 0.9604::float8)) / (finished + 3.8416::float8)) END
$$;
COMMENT ON FUNCTION report.wilson_low(float8, float8) IS 'Lower end of the 95 % interval of the rate succeeded / finished, by Wilson (1927), z = 1.96; null where nothing finished.';
