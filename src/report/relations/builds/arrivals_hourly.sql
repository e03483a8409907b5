-- The last hour ends when the mirror looked, and so do the hours that it is compared with. Working days are compared with
-- working days and weekends with weekends: four of each weekday alone would say little about an hour.
CREATE OR REPLACE VIEW report.arrivals_hourly AS
SELECT hour, count.builds, band.usual_low, band.usual_high, hour + took AS until
FROM report.arrivals
CROSS JOIN LATERAL generate_series(
  date_trunc('hour', looked_at, 'UTC') - interval '23 hours', date_trunc('hour', looked_at, 'UTC'), interval '1 hour'
) AS hour
CROSS JOIN LATERAL (SELECT least(interval '1 hour', looked_at - hour) AS took) AS part
CROSS JOIN LATERAL (
  SELECT count(*)::int AS builds FROM rollup.builds
  WHERE triggered_on = (hour AT TIME ZONE 'UTC')::date AND triggered_at >= hour AND triggered_at < hour + interval '1 hour' AND triggered_at <= looked_at
) AS count
LEFT JOIN LATERAL (
  SELECT (array_agg(builds ORDER BY builds))[1 + round(0.1 * (count(*) - 1))::int] AS usual_low,
    (array_agg(builds ORDER BY builds))[1 + round(0.9 * (count(*) - 1))::int] AS usual_high
  FROM (
    SELECT hour - day * interval '24 hours' AS start FROM generate_series(1, 28) AS day
    WHERE hour - day * interval '24 hours' + took <= last_build_at
      AND hour - day * interval '24 hours' >= last_build_at - days_known * interval '24 hours'
      AND (extract(isodow FROM (hour - day * interval '24 hours') AT TIME ZONE 'UTC') >= 6) = (extract(isodow FROM hour AT TIME ZONE 'UTC') >= 6)
  ) AS same
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS builds FROM rollup.builds
    WHERE triggered_on = (start AT TIME ZONE 'UTC')::date AND triggered_at >= start AND triggered_at < start + took
  ) AS counted
) AS band ON days_known >= 14;
