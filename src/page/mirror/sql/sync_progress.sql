-- The newest sync; rounds of the watch do not count. The first page of a resumed walk lies before a pause of unknown length, so its pace is unknown.
with sync as (
  select run_id as "runId", shown.status, shown.started_at as "startedAt", shown.finished_at as "finishedAt", shown.error, heartbeat_at
  from report.runs as shown join sync.runs on id = run_id
  where shown.kind in ('full', 'incremental')
  order by run_id desc limit 1
), list as (
  select resource, records, total_count as total, walk, seconds, greatest(checkpoint_at, walk.started_at) as heard_at,
    began_run_id <> run_id as is_resumed, walk is null as is_going,
    case when walk is null and began_run_id is not distinct from run_id and records > 0 and seconds > 0
      then greatest(0, total_count - records) * seconds / records end as "secondsLeft"
  from sync.walks as walk
  cross join lateral (
    select coalesce(extract(epoch from coalesce(finished_at, checkpoint_at) - started_at), 0)::float8 as seconds
  ) as took
  where run_id = (select "runId" from sync)
)
select sync.*, sums.*, 1000 * extract(epoch from now() - coalesce(sums.heard_at, sync.heartbeat_at))::float8 as "silentMs"
from sync
cross join lateral (
  select coalesce(json_agg(list order by array_position(:resources::text[], resource)), '[]') as lists,
    max(heard_at) filter (where is_going) as heard_at,
    coalesce(sum(records), 0)::float8 as records,
    case when count(*) = count(total) then sum(total)::float8 end as total,
    case when not coalesce(bool_or(is_resumed), false) then sum(records)::float8 / nullif(max(seconds), 0) end as "recordsPerSecond",
    case when count(*) filter (where is_going) = count("secondsLeft") then coalesce(max("secondsLeft"), 0) end as "secondsLeft"
  from list
) as sums
