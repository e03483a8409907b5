-- Removes the unresolved references of records that changed, but for the fields that their replies say nothing of.
delete from mirror.unresolved_references as reference
using jsonb_to_recordset(:records::text::jsonb) as changed (id text, fields jsonb)
where resource = :resource and record_id = changed.id and not changed.fields ? field
returning status, concat(target_resource, '/', target_key) as target,
  to_char(checked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "checkedAt"
