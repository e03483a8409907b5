-- Title: Builds by day
-- Answers: How many builds are there by UTC day of the trigger? Empty for days that no sync has covered yet.
-- Shown as: bar of succeeded, failed, unfinished, cancelled by day
select day, succeeded, failed, unfinished, cancelled
from report.success_rate_daily
where true
  [[and day >= {{since}}::date]]
  [[and day <= {{until}}::date]]
order by day
