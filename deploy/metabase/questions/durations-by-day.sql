-- Title: Duration of builds by day
-- Answers: How long do builds take, in seconds? The true percentile is between its two bounds. Days whose bounds say nothing are left out.
-- Shown as: line of p50_s_min, p50_s_max, p95_s_min, p95_s_max by day
select day, p50_s_min, p50_s_max, p95_s_min, p95_s_max, finished
from report.build_times_daily
where is_complete and p95_s_max <= 20 * greatest(p95_s_min, 30)
  [[and day >= {{since}}::date]]
  [[and day <= {{until}}::date]]
order by day
