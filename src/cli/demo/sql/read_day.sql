-- Each resource: the records of the first sync, the new ones, what changed since, and how many exist now.
with records as (
  select 'build' as resource, first_seen_at, deleted_at from mirror.builds
  union all select 'file', first_seen_at, deleted_at from mirror.files
  union all select 'project', first_seen_at, deleted_at from mirror.projects
  union all select 'user', first_seen_at, deleted_at from mirror.users
  union all select 'version', first_seen_at, deleted_at from mirror.versions
), counts as (
  select resource,
    count(*) filter (where first_seen_at <= :firstAt::timestamptz) as at_first,
    count(*) filter (where first_seen_at > :firstAt::timestamptz) as new,
    count(*) filter (where deleted_at is null) as now
  from records group by resource
), changes as (
  select resource,
    count(*) filter (where kind = 'updated') as updated,
    count(*) filter (where kind = 'deleted') as deleted,
    count(*) filter (where kind = 'restored') as restored
  from mirror.changes where run_id > :firstRun group by resource
)
select resource, at_first, new, coalesce(updated, 0) as updated, coalesce(deleted, 0) as deleted,
  coalesce(restored, 0) as restored, now
from counts left join changes using (resource)
order by array_position(:resources::text[], resource)
