with sighting as (
  select build.id, build.date, case when :isGone then :vanished::text else build.state end as state,
    seen."askedAt" as asked_at, seen."observedAt" as at, seen.request
  from jsonb_to_recordset(:seen::text::jsonb)
    as seen (id text, "askedAt" timestamptz, "observedAt" timestamptz, request text)
  join mirror.builds as build on build.id = seen.id
  where not :isGone or exists (select from sync.open_builds where build_id = seen.id)
)
insert into mirror.build_transitions
  (build_id, seq, from_state, to_state, not_before, not_after, anomaly, run_id, request, asked_at, rule,
   previous_run_id, previous_request)
select
  sighting.id, coalesce(last.seq, 0) + 1, last.to_state, sighting.state,
  case bound.rule
    when 'date' then created.at
    when 'last_seen' then previous.at
    when 'predecessor' then first.not_before
    else '-infinity'
  end,
  sighting.at,
  nullif(concat_ws(', ',
    case when array_position(:documented::text[], last.to_state)
      > array_position(:documented::text[], sighting.state) then 'backward' end,
    case when last.seq is null and sighting.date is null then 'no_date' end,
    case when created.at > sighting.at then 'future_date' end,
    reading.hour || '_hour',
    case when bound.rule = 'date' and (created.is_cut or :isNamed)
      or last.seq is not null and bound.rule <> 'last_seen'
      or previous.surely_back >= :namedDifferenceMs::float8 then 'clock' end
  ), ''),
  :runId, sighting.request, sighting.asked_at, bound.rule,
  case bound.rule when 'last_seen' then previous.run_id end,
  case bound.rule when 'last_seen' then previous.request end
from sighting
left join lateral (
  select * from mirror.build_transitions as transition
  where transition.build_id = sighting.id order by seq desc limit 1
) as last on true
left join sync.open_builds as open on open.build_id = sighting.id
left join lateral mirror.read_local_time(sighting.date, :zone) as reading on last.seq is null
cross join lateral (
  select
    reading.earliest - case when is_cut then :mostAhead::float8 else :surelyAhead::float8 end * interval '1 ms' as at, is_cut
  from (select reading.earliest - :surelyAhead::float8 * interval '1 ms' > sighting.at as is_cut) as cut
) as created
left join mirror.build_transitions as first on first.build_id = sighting.id and first.seq = 1
-- sync.open_builds has the last sighting of an open build. It is later than the last transition, even if
-- the clocks do not show that. A reply that it is gone shows no state, so a build that was away was last seen
-- where its way out begins; that bound is moved for the clocks up to the run of that reply.
cross join lateral (
  select last.to_state = :vanished as is_back, last.to_state = :vanished and last.rule is distinct from 'last_seen' as is_unseen
) as way
cross join lateral (
  select
    case when is_back then last.not_before when open.build_id is null then coalesce(last.asked_at, last.not_after)
      else open.seen_at end as at,
    case when is_back or open.build_id is null then last.run_id else open.run_id end as clock_run_id,
    case when is_back then last.previous_run_id when open.build_id is null then last.run_id else open.run_id end as run_id,
    case when is_back then last.previous_request when open.build_id is null then last.request else open.request end as request
) as sighted
-- The service's clock shows how far our clock may have been set back since that run, and how far it was ahead in it.
left join sync.runs as sighted_by on sighted_by.id = sighted.clock_run_id
cross join lateral (
  select
    case when clock.minMs > sighted_by.clock_ahead_max_ms then clock.maxMs - sighted_by.clock_ahead_min_ms end as back,
    -- Of a run that has not ended nothing is stored yet. It is not named: many services are some seconds behind.
    case when coalesce(sighted_by.clock_ahead_max_ms, clock.maxMs) < 0
      then - coalesce(sighted_by.clock_ahead_min_ms, clock.minMs) end as fast,
    clock.minMs - sighted_by.clock_ahead_max_ms as surely_back
  from (select :minMs::float8, :maxMs::float8) as clock (minMs, maxMs)
) as moved
cross join lateral (
  select moved.surely_back, sighted.run_id, sighted.request,
    sighted.at - least(coalesce(greatest(moved.back, moved.fast), 0), :longestDifferenceMs::float8) * interval '1 ms' as at
) as previous
cross join lateral (
  select case
    when last.seq is null then case when created.at <= sighting.at then 'date' else 'unknown' end
    when previous.at <= sighting.at and way.is_unseen is not true then 'last_seen'
    when first.not_before <= sighting.at then 'predecessor'
    else 'unknown'
  end as rule
) as bound
where last.seq is null or last.to_state is distinct from sighting.state
