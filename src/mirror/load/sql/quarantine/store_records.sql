insert into sync.quarantine (run_id, resource, record_id, reason, payload, request, created_at)
select :runId::bigint, resource, record_id, min(reason), payload, min(request), min(at::timestamptz)
from (
  select *, json::jsonb as payload
  from unnest(
    :resources::text[],
    :recordIds::text[],
    :reasons::text[],
    :payloads::text[],
    :requests::text[],
    :moments::text[]
  ) with ordinality as refused (resource, record_id, reason, json, request, at, place)
) as refused
where not exists (
  select from sync.quarantine as known
  where known.resolved_at is null and known.resource = refused.resource
    and known.payload = refused.payload and known.record_id is not distinct from refused.record_id)
group by resource, record_id, payload
order by min(place)
