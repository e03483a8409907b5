-- The changes and runs that a pruning would remove.
with change as (select * from mirror.changes)
select (select count(*) from (prunable_changes.sql) as prunable) as changes,
  (select count(*) from (prunable_runs.sql) as prunable) as runs
