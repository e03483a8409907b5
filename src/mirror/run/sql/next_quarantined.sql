select quarantine.id, run_id as "runId", resource, record_id as "recordId", payload::text, request, created_at as "createdAt",
  least(run.started_at, created_at) as "askedAt",
  case when clock_ahead_min_ms is not null then
    jsonb_build_object('minMs', clock_ahead_min_ms, 'maxMs', clock_ahead_max_ms)
  end as "clockAhead"
from sync.quarantine
left join sync.runs as run on run.id = run_id
where resolved_at is null and list_offset is null and resource = coalesce(:resource, resource)
  and quarantine.id > :after
order by quarantine.id limit 1
