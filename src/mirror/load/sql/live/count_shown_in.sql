-- The builds of each range of dates that the list shows, in the order of the ranges. They are found by the key of the served list, which
-- has an index.
select
  (
    select count(*) from mirror.builds
    where deleted_at is null and coalesce(date, 'infinity') between range.oldest and range.newest
  ) - (
    select count(*) from mirror.builds
    where deleted_at is null and coalesce(date, 'infinity') between range.oldest and range.newest
      and id in (select id from (hidden_ids.sql) as hidden (id) union select id from (held_ids.sql) as held (id))
  ) as records
from unnest(:newest::text[]::timestamp[], :oldest::text[]::timestamp[]) with ordinality as range (newest, oldest, place)
order by range.place
