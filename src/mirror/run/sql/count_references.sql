-- The unresolved references, and the records among their targets that are to be requested.
select count(*) as unresolved,
  count(distinct (target_resource, target_key)) filter (where (is_due_reference.sql)) as unsettled
from mirror.unresolved_references
