select of.resource, coalesce((
    select total_count from sync.walks
    where walks.resource = of.resource and total_count is not null order by run_id desc limit 1
  ), newest.records) as records
from unnest(:resources::text[]) as of (resource)
join lateral (
  select records from sync.walks
  where walks.resource = of.resource and (walk = 'whole' or read_since is not null) order by run_id desc limit 1
) as newest on true
