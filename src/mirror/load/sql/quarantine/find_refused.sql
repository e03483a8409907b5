-- The records that a page of a list showed, that could not be stored, and that have no row. Those of another resource are known by a
-- name of their own to a walk (`placeId` of a page).
select id as "rowId", run_id as "runId", record_id as "recordId",
  coalesce(substring(payload ->> 'resource_uri' from '/api/v1/([^/]+)/') || '/', '') || record_id as "placeId"
from sync.quarantine as waiting
where resource = :resource and resolved_at is null and record_id is not null
  and starts_with(request, '/api/v1/' || :resource || '/?')
  and not exists (select from mirror.RECORDS as record where record.id = record_id)
