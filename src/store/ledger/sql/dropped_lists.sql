select of.resource, gone.since, gone.why
from unnest(:resources::text[]) with ordinality as of (resource, place)
cross join lateral (
  -- Since it was there last.
  select min(observed_at) as since, split_part((array_agg(detail order by id desc))[1], ':', 1) as why
  from sync.drift where drift.resource = of.resource and field = '' and kind = 'vanished' and id > coalesce((
    select max(id) from sync.drift as back
    where back.resource = of.resource and field = '' and kind = 'appeared'), 0)
) as gone
where gone.since is not null
order by place
