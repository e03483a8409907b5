select seq, from_state, to_state, not_before, not_after, rule,
  coalesce(string_to_array(anomaly, ', '), '{}') as anomalies,
  not_before_us, not_after_us, (not_after_us - not_before_us) / 1000.0::float8 as width_ms,
  case when rule = 'date' then
    (extract(epoch from :dateEarliest::timestamptz - not_before) * 1000)::float8
  end as before_date_ms,
  jsonb_build_object(
    'asked_at', transition.asked_at::text, 'observed_at', not_after::text, 'request', request,
    'run', jsonb_build_object('id', run_id, 'kind', run.kind, 'started_at', run.started_at::text)
  ) as first_seen,
  case when rule = 'last_seen' then jsonb_build_object(
    'asked_at', not_before::text, 'observed_at', null, 'request', previous_request,
    'run', jsonb_build_object(
      'id', previous_run_id, 'kind', previous_run.kind, 'started_at', previous_run.started_at::text)
  ) end as predecessor_last_seen
from mirror.build_transitions as transition
left join sync.runs as run on run.id = run_id
left join sync.runs as previous_run on previous_run.id = previous_run_id
cross join lateral (
  select (extract(epoch from not_after) * 1000000)::bigint as not_after_us,
    case when isfinite(not_before) then (extract(epoch from not_before) * 1000000)::bigint end as not_before_us
) as bound
where build_id = :id
order by seq
