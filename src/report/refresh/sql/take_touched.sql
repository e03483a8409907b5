-- Takes the ids that writers noted. It deletes exactly the rows that it sees, so those of a writer that commits later stay for the
-- next refresh.
create temporary table touched on commit drop as
with taken as (delete from sync.touched_records returning resource, record_id)
select distinct resource, record_id as id from taken
