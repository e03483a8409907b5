-- The records of a list in quarantine that have no row, and the places without an id.
select count(distinct record_id) as named, count(*) filter (where record_id is null) as nameless
from sync.quarantine as waiting
where resource = :resource and resolved_at is null
  and not exists (select from mirror.RECORDS as record where record.id = record_id)
