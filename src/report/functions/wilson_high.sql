-- The lower end is report.wilson_low.
CREATE OR REPLACE FUNCTION report.wilson_high(succeeded float8, finished float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT CASE WHEN finished > 0 AND succeeded = finished THEN 1 WHEN finished > 0 AND succeeded >= 0 THEN least(1::float8, (succeeded + 1.9208::float8
    + 1.96::float8 * sqrt(succeeded * (finished - succeeded) / finished + 0.9604::float8)) / (finished + 3.8416::float8)) END
$$;
COMMENT ON FUNCTION report.wilson_high(float8, float8) IS 'Upper end of the 95 % interval of the rate succeeded / finished, by Wilson (1927), z = 1.96; null where nothing finished.';
