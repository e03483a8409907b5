select day >= :first::date as is_this_period,
  sum(finished) as finished, sum(succeeded) as succeeded,
  sum(finished_without_platform) as finished_without_platform,
  sum(succeeded_without_platform) as succeeded_without_platform
from report.success_rate_without_platform
where day between :start::date and :last::date
group by is_this_period
