-- The live records of a list; those of them that it does not show any more; and those that are missing from it while their deletion is
-- held back. The count is kept for a list that is read at its head; null before the first one.
select
  case when :isCounted then (select live from sync.lists where resource = :resource) else (count_rows.sql) end as live,
  (select count(*) from mirror.RECORDS where IS_LISTED and id in (hidden_ids.sql)) as hidden,
  (select count(*) from mirror.RECORDS where IS_LISTED and id in (held_ids.sql)) as held,
  unstored.*
from (unstored.sql) as unstored
