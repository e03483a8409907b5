select since, vanished_at,
  jsonb_build_object(
    'asked_at', seen_at::text, 'observed_at', null, 'request', request,
    'run', jsonb_build_object('id', run_id, 'kind', run.kind, 'started_at', run.started_at::text)
  ) as last_seen
from sync.open_builds as open
left join sync.runs as run on run.id = run_id
where build_id = :id
