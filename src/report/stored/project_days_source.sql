CREATE OR REPLACE VIEW rollup.project_days_source AS
SELECT project_id, triggered_on AS day, count(*)::int AS builds, count(succeeded)::int AS finished,
  coalesce(sum(succeeded), 0)::int AS succeeded, coalesce(sum(failed), 0)::int AS failed,
  (count(*) FILTER (WHERE NOT is_settled))::int AS unsettled, (count(*) FILTER (WHERE outcome = 'stuck'))::int AS stuck,
  (count(*) FILTER (WHERE outcome = 'cancelled'))::int AS cancelled
FROM rollup.builds WHERE triggered_on IS NOT NULL
GROUP BY project_id, triggered_on;
