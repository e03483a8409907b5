insert into sync.pages (resource, seq, request, body_hash, meta, ids, loaded_at, run_id, normalizer_version)
select :resource, seq, request, body_hash, meta, ids, loaded_at, run_id, :reading
from jsonb_populate_recordset(null::sync.pages, :pages::text::jsonb)
on conflict (resource, seq) do update set
  request = excluded.request, body_hash = excluded.body_hash, meta = excluded.meta, ids = excluded.ids,
  loaded_at = excluded.loaded_at, run_id = excluded.run_id, normalizer_version = excluded.normalizer_version
