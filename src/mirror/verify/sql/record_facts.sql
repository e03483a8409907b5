-- The stored record of an id, and the causes by which it may differ from the service. One row also where there is no record.
select encode(record.record_hash, 'hex') as hash, record.changed_at as "changedAt",
  exists (select from sync.missing_records where resource = :resource and record_id = :id)
    or exists (select from sync.open_builds where build_id = :id and vanished_at is not null and :resource = 'build')
    or exists (select from sync.quarantine where resource = :resource and record_id = :id and resolved_at is null)
    or (select reason is not null from sync.walks where resource = :resource and walk is not null
      order by run_id desc limit 1) as "isKnown",
  exists (select from mirror.archived_logs where build_id = :id and :resource = 'build') as "isArchived"
from (select) as one left join mirror.RECORDS as record on record.id = :id
