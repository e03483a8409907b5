insert into sync.walks (
  run_id, resource, started_at, began_run_id, pages, records, inserted, updated, unchanged, deleted, restored, quarantined,
  checkpoint, checkpoint_at
)
select :runId, resource, :startedAt::timestamptz, :beganRunId, :pages, :records, :inserted, :updated, :unchanged, :deleted, :restored,
  :quarantined, :checkpoint::text::jsonb, :checkpointAt::timestamptz
from unnest(:resources::text[]) as of (resource)
on conflict (run_id, resource) do update set started_at = excluded.started_at
