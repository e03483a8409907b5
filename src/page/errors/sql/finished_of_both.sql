select sum(finished) filter (where day >= :first) as finished,
  sum(finished) filter (where day < :first) as finished_before
from report.success_rate_daily
where :isShown
