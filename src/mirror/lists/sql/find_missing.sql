-- In turn from each resource: never asked for, the longest ago, last what nothing settles.
select resource, record_id as id
from (
  select resource, record_id, undecided_runs >= :runsToDecide as is_kept, row_number() over (
    partition by resource
    order by case when asked_at <= :now::timestamptz then asked_at end nulls first, noticed_at, record_id
  ) as turn
  from sync.missing_records
  where resource = any (:resources::text[]) and held_until is null and (asked_at is null or not :onlyNew)
) as waiting
order by is_kept, turn, resource
limit :limit
