-- The open builds that are due. The wait is a share of the age of the state, at the time the build was last seen; that of a stuck
-- build has a longest one. A build that is due within some seconds is due now, because a round may start a little early. A sighting
-- in the future was made before our clock was set back: its build is due, and the age is the distance between the two moments.
select build_id as id, is_stuck, due_at
from (
  select build_id, seen_at, polled_at, greatest(polled_at - since, since - polled_at) as age
  from sync.open_builds
  cross join lateral (select greatest(seen_at, asked_at) as polled_at) as latest
  -- Nothing shows that a build without a state will ever have one.
  where exists (select from mirror.builds where id = build_id and state is not null)
) as waiting
cross join lateral (select age >= :stuckAfterMs::float8 * interval '1 ms' as is_stuck) as stuck
cross join lateral (
  select polled_at + case
    when is_stuck then least(age, :longestHours::int * interval '1 hour')
    else age * :ageShare::float8
  end as due_at
) as next
cross join lateral (select :now::timestamptz + :slackSeconds::int * interval '1 second' as soon) as clock
where seen_at < :notSeenSince::timestamptz and due_at <= soon or polled_at > soon
