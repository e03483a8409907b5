-- The builds that are left out are counted and subtracted, because they are few: the failures of platform classes, from their
-- index, and all other builds of incident hours that finished.
CREATE OR REPLACE VIEW report.success_rate_without_platform AS
WITH platform_class AS (
  SELECT DISTINCT class FROM report.error_rules WHERE is_platform
)
SELECT daily.day, daily.finished, daily.succeeded, daily.failed, daily.success_rate, kept.succeeded + kept.failed AS finished_without_platform,
  kept.succeeded AS succeeded_without_platform, kept.failed AS failed_without_platform,
  rate.success_rate AS success_rate_without_platform, rate.success_rate_low AS success_rate_without_platform_low,
  rate.success_rate_high AS success_rate_without_platform_high,
  CASE WHEN daily.finished IS NOT NULL THEN coalesce(incident.hours, 0) END AS incident_hours, daily.is_complete, daily.is_covered
FROM report.success_rate_daily AS daily
LEFT JOIN (
  SELECT triggered_on AS day, count(*)::int AS failed
  FROM rollup.builds WHERE failed = 1 AND error_class IN (SELECT class FROM platform_class)
  GROUP BY triggered_on
) AS platform ON platform.day = daily.day
LEFT JOIN (
  SELECT span.day, count(DISTINCT hour)::int AS hours, (count(*) FILTER (WHERE build.succeeded = 1))::int AS succeeded,
    (count(*) FILTER (WHERE build.failed = 1 AND build.error_class NOT IN (SELECT class FROM platform_class)))::int AS failed
  FROM report.incident_hours
  CROSS JOIN LATERAL (SELECT (hour AT TIME ZONE 'UTC')::date AS day) AS span
  LEFT JOIN rollup.builds AS build
    ON build.triggered_on = span.day AND build.triggered_at >= hour AND build.triggered_at < hour + interval '1 hour'
  GROUP BY span.day
) AS incident ON incident.day = daily.day
CROSS JOIN LATERAL (
  SELECT daily.succeeded - coalesce(incident.succeeded, 0) AS succeeded,
    daily.failed - coalesce(platform.failed, 0) - coalesce(incident.failed, 0) AS failed
) AS kept
CROSS JOIN LATERAL report.success_rate(kept.succeeded, kept.succeeded + kept.failed) AS rate;
