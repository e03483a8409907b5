-- The ids of records that are missing, and whose deletion is held back.
select record_id from sync.missing_records where resource = :resource and held_until is not null
