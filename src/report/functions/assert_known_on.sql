-- Nothing failed on a day before the first known build: that would be a number, and it is only not known.
CREATE OR REPLACE FUNCTION report.assert_known_on(of_day date) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
  IF of_day < (SELECT min(day) FROM report.dim_dates) THEN
    RAISE EXCEPTION 'no build of % or before is known', of_day
      USING ERRCODE = 'invalid_parameter_value',
        HINT = format('ask for %s or later', (SELECT min(day) FROM report.dim_dates));
  END IF;
  RETURN of_day IS NOT NULL;
END
$$;
COMMENT ON FUNCTION report.assert_known_on(date) IS 'True, and false for no day; raises an error for a day before the first known build.';
