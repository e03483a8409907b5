-- The changes of `change`, a relation of the statement around, that nobody needs: a change is old when it and all earlier ones of its
-- record were observed before the horizon. The newest old one stays, and so does the newest old deletion or return.
select id from (
  select id, kind, is_old,
    max(id) filter (where is_old) over record as newest,
    max(id) filter (where is_old and kind <> 'updated') over record as newest_turn
  from (
    select id, resource, record_id, kind,
      max(observed_at) over (partition by resource, record_id order by id) < :horizon::timestamptz as is_old
    from change
  ) as dated
  window record as (partition by resource, record_id)
) as judged
where is_old and id < newest and (kind = 'updated' or id < newest_turn)
