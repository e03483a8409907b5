with reading as (
  select
    run.id as run_id,
    walk.walk,
    lag(walk.started_at) over (order by run.id) as previous_at,
    -- A service with a wrong clock may date its builds by that clock or by another one: both must fit.
    greatest(run.clock_ahead_max_ms, 0) / 1000.0 as ahead,
    greatest(-run.clock_ahead_min_ms::bigint, 0) / 1000.0 as behind
  from sync.runs as run
  join sync.walks as walk on walk.run_id = run.id and walk.resource = 'build'
  where run.started_at >= :since::timestamptz and walk.walk in ('whole', 'head')
),
fresh as (
  select
    (first.not_after at time zone 'UTC')::date as day,
    extract(epoch from build.date - first.not_after at time zone 'UTC')
      - reading.ahead - :toleranceSeconds::int as least_seconds,
    extract(epoch from build.date - reading.previous_at at time zone 'UTC')
      + reading.behind + :toleranceSeconds::int as most_seconds
  from reading
  join mirror.build_transitions as first on first.run_id = reading.run_id and first.seq = 1
  join mirror.builds as build on build.id = first.build_id
  where reading.walk = 'head'
    and reading.ahead + reading.behind <= :mostClockSeconds::int
    and build.date is not null
    and first.not_after between reading.previous_at and reading.previous_at + make_interval(mins => :freshWithinMinutes::int)
)
select
  day::text,
  ceil(least_seconds / 900)::int * 15 as "from",
  floor(most_seconds / 900)::int * 15 as "to",
  count(*)::int as builds
from fresh
-- All zones are between these two. A date outside is a mistake, or a build that was hidden for long.
where most_seconds >= -12 * 3600 and least_seconds <= 14 * 3600
group by 1, 2, 3
order by 1, 2, 3
