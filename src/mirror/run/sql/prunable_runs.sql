-- The runs that no later run needs. Later runs need the newest whole walk of each list, the newest one that was whole or joined at the
-- head, and all walks since, which may have left a gap or a checkpoint. The newest run of each kind and status shows how fresh the
-- mirror is. With `isOfRounds` only the runs of the watch.
select run.id from sync.runs as run
where run.status <> 'running' and run.finished_at < :horizon::timestamptz
  and (not :isOfRounds::boolean or run.kind = 'watch')
  and run.id not in (select max(id) from sync.runs group by kind, status)
  and not exists (
    select from sync.walks as walk
    join (
      select resource, coalesce(least(
        (select run_id from sync.walks as good where good.resource = list.resource and good.walk = 'whole'
         order by run_id desc limit 1),
        (select max(run_id) from sync.walks as good where good.resource = list.resource and good.walk in ('whole', 'head'))
      ), 0) as needed_from
      from unnest(:resources::text[]) as list (resource)
    ) as needed on needed.resource = walk.resource
    where walk.run_id = run.id and walk.run_id >= needed_from
  )
