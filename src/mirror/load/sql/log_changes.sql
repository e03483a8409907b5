-- A text that a log lacks stays as it is stored.
with given as (
  select log ->> 'build_id' as build_id, log from jsonb_array_elements(:logs::text::jsonb) as one (log)
)
-- Texts are stored as hashes, so that mirror.changes stays small.
select stored.build_id as id, field,
  case when old.text is not null then jsonb_build_object('md5', md5(old.text), 'bytes', octet_length(old.text)) end as before,
  case when new.text is not null then jsonb_build_object('md5', md5(new.text), 'bytes', octet_length(new.text)) end as after
from given
join mirror.build_logs as stored using (build_id)
cross join lateral jsonb_populate_record(stored, log) as incoming
cross join lateral jsonb_each_text(to_jsonb(stored)) as old (field, text)
join lateral jsonb_each_text(to_jsonb(incoming)) as new (field, text) using (field)
where old.text is distinct from new.text
union all
-- A log that was removed has one hash, and changes as a whole. A part of a log has none, and an empty one says nothing.
select archived.build_id, 'log', jsonb_build_object('sha256', encode(archived.hash, 'hex')),
  jsonb_build_object('sha256', encode(fresh.hash, 'hex'))
from given
join mirror.archived_logs as archived using (build_id)
cross join lateral jsonb_populate_record(null::mirror.build_logs, log) as incoming
cross join lateral mirror.log_hash(incoming.output, incoming.error, incoming.setup, incoming.setup_error) as fresh (hash)
where fresh.hash <> archived.hash and log ?& array['output', 'error', 'setup', 'setup_error']
  and exists (select from jsonb_each_text(log - 'build_id') as text where text.value <> '')
