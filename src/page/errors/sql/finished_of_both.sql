select sum(finished) filter (where day >= :first::date) as finished,
  sum(finished) filter (where day < :first::date) as finished_before
from report.success_rate_daily
where day between :start::date and :last::date
