-- Differences between upstream's records or schemas and what docmirror knows, those of each run. What the first syncs meet is
-- how upstream is, not a change, so the first look waits until the builds were read whole. The position is that of ended_runs.sql.
with mark as (
  select (:position::text::jsonb ->> 'from')::bigint as since, (:position::text::jsonb ->> 'through')::bigint as seen,
    (select min(id) - 1 from sync.runs where status = 'running') as before_open,
    coalesce((select max(id) from sync.runs), 0) as newest
), changed as (
  select run.id, drift.differences, drift.observed_at, drift.listed
  from sync.runs as run
  cross join mark
  cross join lateral (
    select count(*)::int as differences, min(observed_at) as observed_at,
      jsonb_agg(
        jsonb_build_object('resource', left(resource, 120), 'field', left(field, 120), 'kind', kind, 'detail', left(detail, 120))
        order by id
      ) filter (where place <= 20) as listed
    from (
      select *, row_number() over (order by id) as place from sync.drift
      where run_id = run.id and not (field = '' and detail ~ '^(absent|seen):')
    ) as one
  ) as drift
  where run.status <> 'running' and run.id > (select greatest(since, seen - 20) from mark)
    and (run.id > mark.seen or run.heartbeat_at > now() - interval '1 day')
    and drift.differences > 0
    and not exists (select from sync.notices where subject = 'schema/' || run.id)
  order by run.id limit :most
)
select jsonb_build_object(
    'from', coalesce(mark.since, mark.before_open, mark.newest),
    'through', least(mark.before_open, coalesce((select max(id) from changed having count(*) = :most), mark.newest))
  )::text as position,
  (select coalesce(jsonb_agg(changed order by id), '[]') from changed) as news
from mark
where mark.since is not null or exists (
  select from sync.walks join sync.runs on runs.id = walks.run_id
  where walks.resource = 'build' and walks.walk = 'whole' and runs.status <> 'running'
)
