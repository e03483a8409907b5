-- The rows of a list that are not deleted. The loader keeps the count of the builds, so that nobody has to read every row.
select coalesce(
  (select live from sync.lists where resource = :resource),
  (select count(*) from mirror.RECORDS where deleted_at is null)
) as rows
