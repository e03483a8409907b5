-- References to records that other references have shown to be gone.
update mirror.unresolved_references as reference set status = 'gone', checked_at = known.checked_at
from (
  select target_resource, target_key, max(checked_at) as checked_at
  from mirror.unresolved_references
  where status = 'gone' and checked_at >= :goneBefore::timestamptz
  group by target_resource, target_key
) as known
where reference.status = 'pending' and reference.target_resource = known.target_resource
  and reference.target_key = known.target_key
