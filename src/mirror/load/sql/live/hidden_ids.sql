-- The ids of records that their list does not show any more: missing ones, unless their deletion is held back, and vanished builds.
select record_id from sync.missing_records where resource = :resource and held_until is null
union select build_id from sync.open_builds where :resource = 'build' and vanished_at is not null
