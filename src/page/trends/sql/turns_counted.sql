select day, count(*) filter (where turn = 'broke') as broke, count(*) filter (where turn = 'fixed') as fixed
from (
  select (broke_at at time zone 'UTC')::date as day, 'broke' as turn
  from report.streaks
  where broke_at >= :start::date and broke_at < :after::date and worked_before :of_type :early_broke
  union all
  select (recovered_at at time zone 'UTC')::date, 'fixed'
  from report.streaks
  where recovered_at >= :start::date and recovered_at < :after::date :of_type :early_fixed
) as turned
group by day
