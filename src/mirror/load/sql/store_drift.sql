-- Each field, kind and detail once.
insert into sync.drift (run_id, resource, field, kind, detail, observed_at)
select distinct :runId::bigint, :resource, found.field, found.kind, found.detail, :observedAt::timestamptz
from jsonb_to_recordset(:drift::text::jsonb) as found (field text, kind text, detail text)
where not exists (
  select from sync.drift as known
  where known.resource = :resource and known.field = found.field
    and known.kind = found.kind and known.detail = found.detail)
