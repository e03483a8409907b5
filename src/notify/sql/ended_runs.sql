-- Runs that did not end well. A round of the watch is news only where the last one before it ended well: a lasting trouble
-- would be a notice a minute. A round without walk and error had nothing to watch yet, which is no trouble.
--
-- The position is the numbers of two runs. A run ends after its number was given, perhaps long after: the next run closes
-- what a dead process left open. So the mark stops below the first run that is still open. Numbers may also be committed out
-- of order when a process loses its lock, so the last ones below the mark are looked at once more. The subject prevents a
-- second notice, and the limit of a day prevents one after the first was removed from the outbox.
with mark as (
  select (:position::text::jsonb ->> 'from')::bigint as since, (:position::text::jsonb ->> 'through')::bigint as seen,
    (select min(id) - 1 from sync.runs where status = 'running') as before_open,
    coalesce((select max(id) from sync.runs), 0) as newest
), bad as (
  select run.* from sync.runs as run cross join mark
  where run.status not in ('running', 'succeeded') and run.id > (select greatest(since, seen - 20) from mark)
    and (run.id > mark.seen or run.heartbeat_at > now() - interval '1 day')
    and not exists (select from sync.notices where subject = 'run/' || run.id)
    and (
      run.kind <> 'watch'
      or (run.status <> 'partial' or run.error is not null or exists (select from sync.walks where run_id = run.id))
        and coalesce((
          select before.status from sync.runs as before
          where before.kind = 'watch' and before.id < run.id and before.status <> 'running'
            and (before.status <> 'partial' or before.error is not null
              or exists (select from sync.walks where run_id = before.id))
          order by before.id desc limit 1
        ), 'succeeded') = 'succeeded'
    )
  order by run.id limit :most
), news as (
  select bad.id, bad.kind, bad.status, bad.started_at, bad.finished_at, left(bad.error, 2000) as error,
    (select coalesce(jsonb_agg(left(warning, 600)), '[]') from unnest(bad.warnings[1:5]) as warning) as warnings,
    greatest(cardinality(bad.warnings) - 5, 0) as more_warnings,
    (
      select coalesce(jsonb_agg(jsonb_build_object(
        'resource', resource, 'walk', walk, 'reason', left(reason, 600), 'records', records
      ) order by resource), '[]')
      from sync.walks where run_id = bad.id
    ) as lists,
    bad.unfinished
  from bad
)
select jsonb_build_object(
    'from', coalesce(mark.since, mark.before_open, mark.newest),
    'through', least(mark.before_open, coalesce((select max(id) from bad having count(*) = :most), mark.newest))
  )::text as position,
  (select coalesce(jsonb_agg(news order by id), '[]') from news) as news
from mark
