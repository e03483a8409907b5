-- By how many milliseconds the dates of a page differ from those that are stored for the same builds.
with build as (
  select extract(epoch from shown.date - builds.date)::float8 * 1000 as by
  from unnest(:ids::text[], :dates::text[]::timestamp[]) as shown (id, date)
  join mirror.builds on builds.id = shown.id and builds.date is not null and deleted_at is null
), usual as (
  select mode() within group (order by by) filter (where by <> 0) as by from build
)
select count(*) as known,
  count(*) filter (where build.by <> 0) as moved,
  count(*) filter (where abs(build.by) >= 1000) as far,
  count(*) filter (where build.by = usual.by) as alike,
  max(usual.by) as by
from build cross join usual
