-- The differences of schemas since the mirror began. Resources that docmirror does not mirror are one.
select of.resource, count(drift.resource) as docmirror_schema_changes_total
from unnest(:labels::text[]) with ordinality as of (resource, place)
left join sync.drift on of.resource =
  case when drift.resource = any(:resources::text[]) then drift.resource else 'other' end
group by of.resource, place order by place
