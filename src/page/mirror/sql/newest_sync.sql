select run_id as "runId", shown.status, shown.started_at as "startedAt", shown.finished_at as "finishedAt", shown.error,
  1000 * extract(epoch from now() - heartbeat_at)::float8 as "silentMs"
from report.runs as shown join sync.runs on id = run_id
where shown.kind in ('full', 'incremental')
order by run_id desc limit 1
