-- The missing records of a list that are noted: those that wait for their details, those whose detail shows them, and those
-- held back for long enough.
select count(*) filter (where held_until is null) as waiting,
  count(found_at) as hidden,
  count(*) filter (
    where held_until is not null and noticed_at + :heldForMs::float8 * interval '1 ms' <= :noticedAt::timestamptz
  ) as due
from sync.missing_records
where resource = :resource
