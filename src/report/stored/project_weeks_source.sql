-- The weeks come from the calendar: so the days of one week are found by their index.
CREATE OR REPLACE VIEW rollup.project_weeks_source AS
SELECT project_id, calendar.week, sum(builds)::int AS builds, sum(finished)::int AS finished,
  sum(succeeded)::int AS succeeded, sum(failed)::int AS failed, count(*)::int AS active_days,
  (count(*) FILTER (WHERE failed > 0))::int AS failure_days, sum(unsettled)::int AS unsettled, sum(stuck)::int AS stuck
FROM rollup.project_days
JOIN report.dim_dates AS calendar USING (day)
GROUP BY project_id, calendar.week;
