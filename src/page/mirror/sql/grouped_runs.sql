select kind, sum(rounds) as runs, min(rounds_first_run_id) as first_run_id, max(run_id) as last_run_id,
  min(rounds_since) as started_at, max(coalesce(finished_at, started_at)) as ended_at,
  (array_agg(status order by run_id desc))[1] as status, (array_agg(reason order by run_id desc))[1] as reason,
  count(*) filter (where status not in ('succeeded', 'running')) as troubled,
  sum(rounds_requests) as requests, sum(inserted) as inserted, sum(updated) as updated, sum(deleted) as deleted,
  sum(transitions) as transitions
from (
  select *, sum(begins) over (order by run_id) as spell
  from (
    select *, (kind <> 'watch' or lag(kind) over (order by run_id) is distinct from 'watch'
      or rounds_since - lag(started_at) over (order by run_id) > interval '5 minutes')::int as begins
    from (
      select * from report.runs
      order by run_id desc limit 2000 -- on the page
    ) as newest
  ) as run
) as run
group by kind, spell
