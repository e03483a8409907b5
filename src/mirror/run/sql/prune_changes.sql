-- Prunes the changes of the next records, and says which was the last of them; null when no records are left.
with record as materialized (
  select resource, record_id from mirror.changes where (resource, record_id) > (:afterResource::text, :afterId::text)
  group by resource, record_id order by resource, record_id limit :records::int
), change as (
  select changes.* from record join mirror.changes using (resource, record_id)
), deleted as (
  delete from mirror.changes where id in (select id from (prunable_changes.sql) as prunable limit :most::int)
  returning 1
)
select (select count(*) from deleted) as deleted, (
  select jsonb_build_object('resource', resource, 'recordId', record_id)
  from record order by resource desc, record_id desc limit 1
) as last
