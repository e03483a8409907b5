select seen.id
from jsonb_to_recordset(:sightings::text::jsonb)
  as seen (id text, "askedAt" timestamptz, "observedAt" timestamptz, state text)
left join sync.open_builds as open on open.build_id = seen.id
cross join lateral (
  select run_id, asked_at, not_after, to_state from mirror.build_transitions as transition
  where transition.build_id = seen.id order by seq desc limit 1
) as last
left join sync.build_states as was on was.state = sync.state_word(last.to_state)
left join sync.build_states as shown on shown.state = sync.state_word(seen.state)
where (last.run_id, last.not_after) > (:runId, seen."observedAt")
  or (open.run_id, open.seen_at) > (:runId, seen."askedAt")
  -- A reply from before the run is out of a cache, and may be older than what an earlier run saw.
  or seen."askedAt" < :startedAt::timestamptz and greatest(open.seen_at, last.asked_at) > seen."askedAt"
  or seen.state is null and last.to_state is not null and open.seen_at between seen."askedAt" and seen."observedAt"
  or last.not_after between seen."askedAt" and seen."observedAt" and seen.state <> last.to_state
    and (last.to_state = :vanished
      or array_position(:documented::text[], last.to_state) > array_position(:documented::text[], seen.state))
  or last.not_after between seen."askedAt" and seen."observedAt" and was.is_final and shown.is_final is not true
