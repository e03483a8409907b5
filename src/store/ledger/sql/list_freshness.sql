select of.resource, least(good.started_at, good.finished_at) as "startedAt", good.finished_at as "finishedAt", good.walk
from unnest(:resources::text[]) with ordinality as of (resource, place)
left join lateral (
  select started_at, finished_at, walk from sync.walks
  where walks.resource = of.resource and is_good order by run_id desc limit 1
) as good on true
order by place
