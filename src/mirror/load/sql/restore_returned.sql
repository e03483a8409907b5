-- Records that were deleted and that the service shows again.
update mirror.RECORDS as record
set deleted_at = null, changed_at = returned.at, changed_run_id = :runId
from jsonb_to_recordset(:observed::text::jsonb) as returned (id text, at timestamptz)
where record.id = returned.id
