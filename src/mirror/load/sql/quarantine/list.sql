-- The quarantine, newest first. Without a length each payload comes whole.
select id, resource, record_id, reason, request, run_id, created_at, resolved_at, list_offset,
  left(payload::text, coalesce(:payloadLength::integer, 2147483647)) as payload
from sync.quarantine
where (:all or resolved_at is null) and resource = coalesce(:resource, resource)
order by id desc limit :limit
