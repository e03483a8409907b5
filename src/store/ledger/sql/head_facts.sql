select
  coalesce(gap.unshown, 0) as unshown, coalesce(gap.repeated, 0) as repeated,
  coalesce(newest.deficit, 0) as unexplained, coalesce(newest_of_syncs.deficit, 0) as "unexplainedBySyncs",
  (
    select max(run_id) from sync.walks
    where resource = :resource and (walk in ('whole', 'head') or read_since is not null)
  ) as "joinedRunId",
  (
    select finished_at from sync.walks
    where resource = :resource and finished_at is not null and walk is not null order by run_id desc limit 1
  ) as "endedAt",
  (select count(*) from sync.missing_records where resource = :resource) as missing
from (values (1)) as one
left join lateral (
  select coalesce(unshown, greatest(0, deficit - coalesce(unstored, 0))) as unshown, repeated
  from sync.walks
  where resource = :resource and (unshown is not null or walk = 'whole' and deficit is not null)
  order by run_id desc limit 1
) as gap on true
left join lateral (
  select case when walk = 'head' then deficit - coalesce(unstored, 0) end as deficit from sync.walks
  where resource = :resource and (walk = 'whole' or walk = 'head' and deficit is not null)
  order by run_id desc limit 1
) as newest on true
left join lateral (
  select case when walk = 'head' then deficit - coalesce(unstored, 0) end as deficit from sync.walks
  where resource = :resource and (walk = 'whole' or walk = 'head' and deficit is not null)
    and run_id in (select id from sync.runs where kind <> 'watch')
  order by run_id desc limit 1
) as newest_of_syncs on true
