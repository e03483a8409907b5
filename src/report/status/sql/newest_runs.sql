with recent as (
  (select * from sync.runs where kind <> 'watch' order by id desc limit :syncs)
  union all
  (select * from sync.runs where kind = 'watch' order by id desc limit :rounds)
),
last as (
  select distinct on (kind) id, kind, status, requests, extract(epoch from finished_at)::float8 as ended_at,
    extract(epoch from finished_at - started_at)::float8 as seconds
  from recent where status <> 'running' and finished_at is not null order by kind, id desc
),
good as (
  select distinct on (kind) kind, extract(epoch from finished_at)::float8 as at
  from recent where status = 'succeeded' order by kind, id desc
),
alive as (
  select kind, count(*) as runs from report.runs
  where status = 'running' and run_id in (select id from recent where status = 'running')
  group by kind
)
select of.kind, good.at as docmirror_last_success_timestamp_seconds,
  ended_at as docmirror_last_run_timestamp_seconds, seconds as docmirror_last_run_duration_seconds,
  requests as docmirror_last_run_requests, coalesce(alive.runs, 0) as docmirror_run_in_progress,
  case when last.id is not null then (
    select jsonb_object_agg(one, (one = last.status)::int) from unnest(:statuses::text[]) as one
  ) end as docmirror_last_run_status,
  case when last.id is not null then (
    select jsonb_build_object(
      'inserted', coalesce(sum(inserted), 0), 'updated', coalesce(sum(updated), 0),
      'unchanged', coalesce(sum(unchanged), 0), 'deleted', coalesce(sum(deleted), 0),
      'restored', coalesce(sum(restored), 0), 'quarantined', coalesce(sum(quarantined), 0))
    from sync.walks where run_id = last.id
  ) end as docmirror_last_run_records
from unnest(:kinds::text[]) with ordinality as of (kind, place)
left join last using (kind) left join good using (kind) left join alive using (kind)
order by place
