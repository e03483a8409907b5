-- The dates of builds in quarantine that have no row, as they came.
select distinct on (record_id) left(payload ->> 'date', 40) as date from sync.quarantine as waiting
where resource = 'build' and resolved_at is null and record_id is not null and payload ->> 'date' is not null
  and not exists (select from mirror.builds where id = record_id)
order by record_id, id desc limit :most
