-- The changes and runs that a pruning would remove.
with change as (select * from mirror.changes)
select case when :isOfRounds::boolean then 0 else (select count(*) from (prunable_changes.sql) as prunable) end as changes,
  (select count(*) from (prunable_runs.sql) as prunable) as runs
