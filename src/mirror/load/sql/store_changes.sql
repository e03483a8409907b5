-- Changes of the records of a resource, in the order in which they are given.
insert into mirror.changes (resource, record_id, run_id, observed_at, kind, before, after)
select :resource, "recordId", :runId, "observedAt", kind, before, after
from jsonb_to_recordset(:changes::text::jsonb)
  as change ("recordId" text, "observedAt" timestamptz, kind text, before jsonb, after jsonb)
