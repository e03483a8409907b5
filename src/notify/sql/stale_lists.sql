-- Lists that went stale. `since` is the start of the last good walk, which differs from one staleness to the next. A list that
-- a wrong clock dated ahead counts as stale, because its age is not known. One that was never read well is stale when the
-- first run is that old. The position holds the lists that are stale, so a lasting staleness is one notice, however long it lasts.
with stale as (
  select of.resource, good.started_at as last_good_at, coalesce(good.started_at::text, 'never') as since
  from unnest(:resources::text[]) as of (resource)
  left join lateral (
    select least(started_at, finished_at) as started_at from sync.walks
    where resource = of.resource and is_good order by run_id desc limit 1
  ) as good on true
  where coalesce(good.started_at, (select started_at from sync.runs order by id limit 1))
      < :now::timestamptz - :staleAfterMs::float8 * interval '1 ms'
    or good.started_at > :now::timestamptz + interval '5 minutes'
)
select coalesce(jsonb_object_agg(resource, since), '{}')::text as position,
  coalesce(jsonb_agg(
    jsonb_build_object('resource', resource, 'since', since, 'last_good_at', last_good_at,
      'is_ahead', coalesce(last_good_at > :now::timestamptz, false))
    order by resource
  ) filter (where :position::text::jsonb ->> resource is distinct from since), '[]') as news
from stale
