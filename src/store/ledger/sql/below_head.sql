select run_id, round_records, round_reason, search_requests, search_is_done, (
    select jsonb_build_object('began_at', rounds.started_at::text, 'records', rounds.records, 'total_count', rounds.total_count)
    from sync.rounds where resource = 'build' and checkpoint is not null
  ) as round
from sync.walks join sync.runs on runs.id = run_id
where resource = 'build' and kind in ('full', 'incremental') and walks.finished_at is not null
order by run_id desc limit 1
