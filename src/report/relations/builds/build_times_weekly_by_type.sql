CREATE OR REPLACE VIEW report.build_times_weekly_by_type AS
SELECT times.week, to_char(times.week, 'IYYY"-W"IW') AS iso_week, times.type, times.measured AS finished,
  times.p50_s_min, times.p50_s_max, times.p90_s_min, times.p90_s_max, times.p95_s_min, times.p95_s_max
FROM rollup.type_week_times AS times;
