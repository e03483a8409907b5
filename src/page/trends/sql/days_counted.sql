select day, coalesce(counted.builds, 0) as builds, coalesce(counted.finished, 0) as finished,
  coalesce(counted.succeeded, 0) as succeeded, coalesce(counted.failed, 0) as failed,
  coalesce(counted.builds - counted.finished - counted.cancelled, 0) as unfinished, coalesce(counted.stuck, 0) as stuck,
  coalesce(counted.cancelled, 0) as cancelled, daily.is_complete
from report.success_rate_daily as daily
left join (
  select triggered_on as day, count(*) as builds, count(succeeded) as finished, sum(succeeded) as succeeded, sum(failed) as failed,
    count(*) filter (where outcome = 'stuck') as stuck, count(*) filter (where outcome = 'cancelled') as cancelled
  from report.fact_builds
  where triggered_on between :start::date and :last::date :of_type :early
  group by day
) as counted using (day)
where day between :start::date and :last::date and daily.is_covered
