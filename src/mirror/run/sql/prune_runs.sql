-- The oldest of the runs that nobody needs.
delete from sync.runs where id in (select id from (prunable_runs.sql) as prunable order by id limit :most::int)
