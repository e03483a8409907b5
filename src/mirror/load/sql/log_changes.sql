with incoming as (
  select * from jsonb_populate_recordset(null::mirror.build_logs, :logs::text::jsonb)
)
-- Texts are stored as hashes, so that mirror.changes stays small.
select incoming.build_id as id, field,
  case when old.text is not null then jsonb_build_object('md5', md5(old.text), 'bytes', octet_length(old.text)) end as before,
  case when new.text is not null then jsonb_build_object('md5', md5(new.text), 'bytes', octet_length(new.text)) end as after
from incoming
join mirror.build_logs as stored using (build_id)
cross join lateral jsonb_each_text(to_jsonb(stored)) as old (field, text)
join lateral jsonb_each_text(to_jsonb(incoming)) as new (field, text) using (field)
where old.text is distinct from new.text
union all
-- A log that was removed has one hash, and changes as a whole.
select build_id, 'log', jsonb_build_object('sha256', encode(archived.hash, 'hex')),
  jsonb_build_object('sha256', encode(fresh.hash, 'hex'))
from incoming
join mirror.archived_logs as archived using (build_id)
cross join lateral mirror.log_hash(output, error, setup, setup_error) as fresh (hash)
where fresh.hash <> archived.hash
