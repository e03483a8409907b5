-- Marks missing records as deleted. One that a walk has met since is not missing any more, and stays.
with settled as (
  delete from sync.missing_records as missing
  using jsonb_to_recordset(:gone::text::jsonb) as gone (resource text, id text, "observedAt" timestamptz)
  where gone.resource = :resource and missing.resource = :resource and missing.record_id = gone.id
  returning gone.id, gone."observedAt" as at
)
update mirror.RECORDS as record
set deleted_at = settled.at, changed_at = settled.at, changed_run_id = :runId
from settled where record.id = settled.id and record.deleted_at is null
returning record.id, settled.at
