-- Title: Builds by day
-- Answers: How much is built? By the UTC day of the trigger; nothing where no sync has looked since the day began.
-- Shown as: bar of succeeded, failed, unfinished by day
select day, succeeded, failed, unfinished
from report.success_rate_daily
where true
  [[and day >= {{since}}::date]]
  [[and day <= {{until}}::date]]
order by day
