insert into mirror.build_transitions
  (build_id, seq, from_state, to_state, not_before, not_after, anomaly, run_id, request, asked_at, rule)
select
  build.id, 1, null, build.state, case when created.at <= build.at then created.at else '-infinity' end, build.at,
  nullif(concat_ws(', ',
    case when build.date is null then 'no_date' end,
    case when created.at > build.at then 'future_date' end,
    reading.hour || '_hour',
    case when created.at <= build.at and (created.is_cut or :isNamed) then 'clock' end
  ), ''),
  :runId, build.request, build.asked_at, case when created.at <= build.at then 'date' else 'unknown' end
from (
  select id, state, date, "askedAt" as asked_at, "observedAt" as at, request
  from jsonb_to_recordset(:builds::text::jsonb)
    as seen (id text, state text, date timestamp, "askedAt" timestamptz, "observedAt" timestamptz, request text)
) as build
-- Where the clocks of the zone are the same on both days around it, the local time has one meaning.
cross join lateral (
  select (build.date - interval '24 hours') at time zone :zone + interval '24 hours' as before,
    (build.date + interval '24 hours') at time zone :zone - interval '24 hours' as after
  offset 0
) as around
left join lateral mirror.read_local_time(build.date, :zone) as unclear on around.before <> around.after
cross join lateral (
  select coalesce(unclear.earliest, around.before) as earliest, unclear.hour offset 0
) as reading
cross join lateral (
  select
    reading.earliest - case when is_cut then :mostAhead::float8 else :surelyAhead::float8 end * interval '1 ms' as at, is_cut
  from (select reading.earliest - :surelyAhead::float8 * interval '1 ms' > build.at as is_cut) as cut
) as created
