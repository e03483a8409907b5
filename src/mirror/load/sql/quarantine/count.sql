-- The number of records and of holes in quarantine.
select count(*) filter (where list_offset is null) as records,
  count(*) filter (where list_offset is not null) as holes
from sync.quarantine
where (:all or resolved_at is null) and resource = coalesce(:resource, resource)
