select run_id as "runId", coalesce(began_run_id, run_id) as "beganRunId", resource, checkpoint,
  started_at as "startedAt", checkpoint_at as "checkpointAt",
  pages, records, inserted, updated, unchanged, deleted, restored, quarantined
from unnest(:resources::text[]) as of (name)
cross join lateral (
  select walks.* from sync.walks join sync.runs on runs.id = walks.run_id
  where resource = of.name and kind in ('full', 'incremental') order by run_id desc limit 1
) as newest
where checkpoint is not null
  and checkpoint_at between case when checkpoint ? 'rests' then :restedSince::timestamptz else :since end and :until::timestamptz
