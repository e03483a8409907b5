-- Few builds prove nothing, so each span has 20 or more, and chance alone must be an unlikely reason.
CREATE OR REPLACE VIEW report.regressions AS
SELECT rate.project_id, project.project_slug,
  rate.finished_last_7_days, rate.succeeded_last_7_days, rate.succeeded_last_7_days::float8 / rate.finished_last_7_days AS success_rate_last_7_days,
  rate.finished_28_days_before, rate.succeeded_28_days_before, rate.succeeded_28_days_before::float8 / rate.finished_28_days_before AS success_rate_28_days_before,
  rate.succeeded_last_7_days::float8 / rate.finished_last_7_days - rate.succeeded_28_days_before::float8 / rate.finished_28_days_before AS difference,
  report.rate_difference_low(rate.succeeded_last_7_days, rate.finished_last_7_days, rate.succeeded_28_days_before, rate.finished_28_days_before) AS difference_low,
  report.rate_difference_high(rate.succeeded_last_7_days, rate.finished_last_7_days, rate.succeeded_28_days_before, rate.finished_28_days_before) AS difference_high,
  failed.build_id AS last_failed_build_id
FROM (
  SELECT counted.project_id, last.day AS last_day,
    coalesce(sum(counted.finished) FILTER (WHERE counted.day > last.day - 7), 0)::int AS finished_last_7_days,
    coalesce(sum(counted.succeeded) FILTER (WHERE counted.day > last.day - 7), 0)::int AS succeeded_last_7_days,
    coalesce(sum(counted.finished) FILTER (WHERE counted.day <= last.day - 7), 0)::int AS finished_28_days_before,
    coalesce(sum(counted.succeeded) FILTER (WHERE counted.day <= last.day - 7), 0)::int AS succeeded_28_days_before
  FROM rollup.last_day AS last
  JOIN rollup.project_days AS counted ON counted.day > last.day - 35 AND counted.day <= last.day
  -- The unknown project stands for several.
  WHERE counted.project_id <> '-1'
  GROUP BY counted.project_id, last.day
) AS rate
LEFT JOIN report.dim_projects AS project ON project.project_id = rate.project_id
LEFT JOIN LATERAL (
  SELECT build.build_id FROM rollup.builds AS build
  WHERE build.project_id = rate.project_id AND build.triggered_on > rate.last_day - 7 AND build.triggered_on <= rate.last_day AND build.failed = 1
  ORDER BY build.triggered_at DESC, length(build.build_id) DESC, build.build_id DESC LIMIT 1
) AS failed ON true
WHERE rate.finished_last_7_days >= 20 AND rate.finished_28_days_before >= 20
  AND report.rate_difference_high(rate.succeeded_last_7_days, rate.finished_last_7_days, rate.succeeded_28_days_before, rate.finished_28_days_before) < 0;
