select reference.field, reference.uri, reference.id,
  coalesce(project.slug, version.slug) as slug,
  coalesce(project.deleted_at, version.deleted_at) as deleted_at,
  case when reference.id is not null then 'found' when reference.uri is null then 'none'
    else coalesce(unresolved.status, 'pending') end as status,
  unresolved.checked_at
from mirror.builds as build
cross join lateral (values
  (1, 'project', project_uri, project_id), (2, 'version', version_uri, version_id)
) as reference (place, field, uri, id)
left join mirror.projects as project on reference.field = 'project' and project.id = reference.id
left join mirror.versions as version on reference.field = 'version' and version.id = reference.id
left join mirror.unresolved_references as unresolved
  on unresolved.resource = 'build' and unresolved.record_id = build.id and unresolved.field = reference.field
where build.id = :id
order by reference.place
