with recent as (
  (select id, 'sync' as command, status from sync.runs
   where kind not in ('watch', 'quarantine', 'repair') order by id desc limit :syncs)
  union all
  (select id, 'watch', status from sync.runs where kind = 'watch' order by id desc limit :rounds)
),
good as (
  select command, max(id) as id from recent where status in ('succeeded', 'partial') group by command
)
select of.command, count(recent.id) as docmirror_runs_failed_in_a_row
from unnest(array['sync', 'watch']) as of (command)
left join good on good.command = of.command
left join recent on recent.command = of.command and recent.status = 'failed' and recent.id > coalesce(good.id, 0)
group by of.command order by of.command
