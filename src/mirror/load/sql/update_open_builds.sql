with sighting as (
  select build.id, coalesce(known.is_final, false) as is_final, seen."askedAt" as asked_at, seen."observedAt" as at, seen.request
  from jsonb_to_recordset(:seen::text::jsonb)
    as seen (id text, "askedAt" timestamptz, "observedAt" timestamptz, request text)
  join mirror.builds as build on build.id = seen.id
  left join sync.build_states as known on known.state = sync.state_word(build.state)
  where not :isGone or exists (select from sync.open_builds where build_id = seen.id)
), closed as (
  delete from sync.open_builds as open using sighting
  where not :isGone and open.build_id = sighting.id and sighting.is_final
)
insert into sync.open_builds as open (build_id, since, seen_at, run_id, request, vanished_at)
select
  sighting.id, entered.at, sighting.asked_at, :runId, sighting.request,
  case when :isGone then coalesce(known.vanished_at, sighting.at) end
from sighting
cross join lateral (
  -- A build that was open at its first sighting may have been open for long.
  select case when seq = 1 and isfinite(not_before) then not_before else not_after end as at
  from mirror.build_transitions as transition
  where transition.build_id = sighting.id order by seq desc limit 1
) as entered
left join sync.open_builds as known on known.build_id = sighting.id
-- A sighting after this reply, but by an earlier run, was made before our clock was set back.
where (:isGone or not sighting.is_final)
  and (known.since = entered.at and (known.vanished_at is not null) = :isGone
    and known.seen_at between sighting.asked_at and sighting.at) is not true
on conflict (build_id) do update set
  since = excluded.since, seen_at = excluded.seen_at, run_id = excluded.run_id, request = excluded.request,
  vanished_at = excluded.vanished_at
