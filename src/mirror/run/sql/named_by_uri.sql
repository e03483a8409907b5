-- The records that references name by their own `resource_uri`, which may have a name in the place of the id: as it stands in the
-- reference, or in its short form. Where several have one, one that still exists is used.
select distinct on (wanted.uri) wanted.uri, record.id
from (
  select distinct uri, unnest(array[uri, :path || target_key || '/']) as own
  from mirror.unresolved_references where target_resource = :target
) as wanted
join :records as record on record.resource_uri = wanted.own
order by wanted.uri, record.deleted_at nulls first, record.id
