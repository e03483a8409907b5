-- The open builds by state. As in the reports, the age is that of the last sighting, because the later state is not known.
select build.state, count(*) as open,
  count(*) filter (where open.vanished_at is null
    and sync.open_seconds(open.seen_at, build.date at time zone :sourceTimezone, build.first_seen_at)
      > :stuckAfterS::float8) as stuck,
  count(*) filter (where open.vanished_at is not null) as vanished,
  min(build.date at time zone :sourceTimezone) as oldest
from sync.open_builds as open join mirror.builds as build on build.id = open.build_id
where build.deleted_at is null
group by build.state order by open desc
