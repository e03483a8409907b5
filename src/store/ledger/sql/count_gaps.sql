select of.resource, counted, shown
from unnest(:resources::text[]) with ordinality as of (resource, place)
cross join lateral (
  select total_count as counted, records as shown, deficit - coalesce(unstored, 0) as gap from sync.walks
  where walks.resource = of.resource and (walk = 'whole' or walk = 'not_whole' and deficit is not null)
  order by run_id desc limit 1
) as reading
where gap <> 0 and counted <> shown
order by place
