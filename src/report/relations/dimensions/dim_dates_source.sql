-- From the first build to the end of next year, but not before 2000. Days of builds outside of that are added
-- one by one: a build dated to the year 1 must not add two thousand years.
CREATE OR REPLACE VIEW rollup.dim_dates_source AS
SELECT day, date_trunc('week', day::timestamp)::date AS week, to_char(day, 'IYYY"-W"IW') AS iso_week, to_char(day, 'YYYY-MM') AS month,
  to_char(day, 'YYYY"-Q"Q') AS quarter, extract(year FROM day)::int AS year, extract(isodow FROM day)::int AS day_of_week,
  extract(isodow FROM day) > 5 AS is_weekend,
  date_trunc('month', day::timestamp)::date AS month_start, extract(month FROM day)::int AS month_of_year,
  -- English under any setting of the server, because nothing asks for a translation (TM).
  to_char(day, 'FMMonth') AS month_name,
  date_trunc('quarter', day::timestamp)::date AS quarter_start, extract(quarter FROM day)::int AS quarter_of_year,
  to_char(day, 'FMDay') AS day_name
FROM (
  SELECT generate_series(
    least((SELECT min(triggered_on) FROM rollup.builds WHERE triggered_on >= '2000-01-01'), today)::timestamp, last::timestamp, '1 day'
  )::date AS day
  FROM (
    SELECT (now() AT TIME ZONE 'UTC')::date AS today, make_date(extract(year FROM now() AT TIME ZONE 'UTC')::int + 1, 12, 31) AS last
  ) AS calendar
  UNION
  SELECT triggered_on FROM rollup.builds
  WHERE triggered_on < '2000-01-01' OR triggered_on > make_date(extract(year FROM now() AT TIME ZONE 'UTC')::int + 1, 12, 31)
) AS calendar;
