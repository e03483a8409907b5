-- One number for a percentile that is known within a tenth: it lies in the middle of its bounds.
CREATE OR REPLACE VIEW report.build_times_daily AS
SELECT rate.day, coalesce(day.measured, CASE WHEN rate.is_covered THEN 0 END) AS finished, day.p50_s_min, day.p50_s_max, day.p90_s_min, day.p90_s_max, day.p95_s_min, day.p95_s_max,
  rate.is_complete, rate.is_covered,
  CASE WHEN p50_s_max - p50_s_min <= (p50_s_max + p50_s_min) / 10 THEN (p50_s_min + p50_s_max) / 2 END AS p50_s,
  CASE WHEN p90_s_max - p90_s_min <= (p90_s_max + p90_s_min) / 10 THEN (p90_s_min + p90_s_max) / 2 END AS p90_s,
  CASE WHEN p95_s_max - p95_s_min <= (p95_s_max + p95_s_min) / 10 THEN (p95_s_min + p95_s_max) / 2 END AS p95_s
FROM report.success_rate_daily AS rate
LEFT JOIN rollup.days AS day ON day.day = rate.day;
