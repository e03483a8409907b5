CREATE OR REPLACE VIEW report.build_times_daily AS
SELECT rate.day, coalesce(day.measured, CASE WHEN rate.is_covered THEN 0 END) AS finished, day.p50_s_min, day.p50_s_max, day.p90_s_min, day.p90_s_max, day.p95_s_min, day.p95_s_max,
  rate.is_complete, rate.is_covered
FROM report.success_rate_daily AS rate
LEFT JOIN rollup.days AS day ON day.day = rate.day;
