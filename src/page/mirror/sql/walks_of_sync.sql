select resource, records, total_count as total, walk, coalesce(began_run_id <> run_id, false) as "isResumed",
  coalesce(extract(epoch from coalesce(finished_at, checkpoint_at) - started_at), 0)::float8 as seconds,
  1000 * extract(epoch from now() - greatest(checkpoint_at, started_at))::float8 as "silentMs"
from sync.walks
where run_id = :runId
order by array_position(:resources::text[], resource)
