select
  count(*)::int as builds,
  count(*) filter (where minutes >= :fromMinutes::int)::int as future,
  percentile_disc(0.5) within group (order by minutes::int)
    filter (where minutes >= :fromMinutes::int) as "medianMinutes"
from (
  select extract(epoch from local.earliest - first.not_after) / 60
    - greatest(run.clock_ahead_max_ms, 0) / 60000.0 as minutes
  from mirror.build_transitions as first
  join mirror.builds as build on build.id = first.build_id
  left join sync.runs as run on run.id = first.run_id
  cross join lateral mirror.read_local_time(build.date, :zone) as local
  where first.seq = 1 and first.not_after >= :since::timestamptz
    and abs(extract(epoch from local.earliest - first.not_after)) < 86400
) as sighting
