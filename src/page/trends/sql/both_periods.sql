-- A break on the last day of each period has not had a day yet, and a series that never worked did not break.
select *
from (
  select day >= :first::date as is_this_period, min(day) as first_day, max(day) as last_day,
    sum(builds) as builds, sum(finished) as finished, sum(succeeded) as succeeded, sum(failed) as failed,
    sum(unfinished) as unfinished, sum(stuck) as stuck, sum(cancelled) as cancelled,
    coalesce(sum(broke), 0) as broke, coalesce(sum(fixed), 0) as fixed
  from :days
  group by is_this_period
) as counts:without_platform
left join (
  select broke_at >= :first::date as is_this_period, count(*) as broke_a_day_before_the_end,
    count(*) filter (where hours_to_recover <= 24) as of_these_fixed_within_a_day
  from report.streaks
  where broke_at >= :start::date and broke_at < :last::date and worked_before :of_type :early_broke
  group by is_this_period
) as quick using (is_this_period)
order by is_this_period desc
