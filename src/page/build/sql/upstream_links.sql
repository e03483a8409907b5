select (select base_url from sync.service), project.subdomain, project.absolute_url
from mirror.builds as build
left join mirror.projects as project on project.id = build.project_id
where build.id = :id
