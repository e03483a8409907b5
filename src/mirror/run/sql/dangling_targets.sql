-- First those that were never requested, then the longest ago. A later request than now comes from a wrong clock.
select target_resource as resource, target_key as key
from mirror.unresolved_references
where (is_due.sql)
group by target_resource, target_key
order by max(asked_at) filter (where asked_at <= :now::timestamptz) nulls first, target_resource, target_key
limit :most
