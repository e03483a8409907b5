-- Title: Success rate by day
-- Answers: How often do builds succeed? Only finished builds count, with the 95 % interval. Days that may still change are left out.
-- Shown as: line of success_rate, success_rate_low, success_rate_high by day
select day, success_rate, success_rate_low, success_rate_high, finished
from report.success_rate_daily
where is_complete
  [[and day >= {{since}}::date]]
  [[and day <= {{until}}::date]]
order by day
