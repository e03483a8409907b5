select :resource as resource, listed.seq, bool_or(record.id is null) as is_lost
from (
  select seq, run_id, loaded_at, body_hash, unnest(ids) as id from sync.pages
  where resource = :resource and seq >= :from and seq < :until
) as listed
left join :records as record on record.id = listed.id
where (record.changed_run_id, record.changed_at) > (listed.run_id, listed.loaded_at)
  -- A page with a record that could not be stored is read again anyway.
  or record.id is null and listed.body_hash <> ''
  or record.deleted_at is not null
  or :resource = 'build' and record.id in (select build_id from sync.open_builds where vanished_at is not null)
group by listed.seq
