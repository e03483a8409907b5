select (hour at time zone 'UTC')::date as day, count(*) as hours, count(*) filter (where is_known) as known,
  max(open_min) filter (where is_known) as open_min, max(open_max) filter (where is_known) as open_max
from report.backlog
cross join lateral (select open_max - open_min <= greatest(5, open_max / 10) as is_known) as bounds
where hour >= :first::date and hour < :after::date and is_covered
group by day
order by day
