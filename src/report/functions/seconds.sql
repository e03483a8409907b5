-- The seconds of a span of time, to the microsecond. extract() gives a numeric, which is written as text and read again to
-- become a float8; the other way to the same number costs a tenth of it. From 136 years on its last bit may differ.
CREATE OR REPLACE FUNCTION rollup.seconds(span interval) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT round(date_part('epoch', span) * 1000000) / 1000000
$$;
