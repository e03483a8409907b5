select count(*) as unresolved, count(distinct (target_resource, target_key)) filter (where (is_due.sql)) as unsettled
from mirror.unresolved_references
