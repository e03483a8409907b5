-- What the hits of a search in files show of each.
select file.id, coalesce(project.slug, '') as project, coalesce(file.path, '') as path,
  coalesce(file.absolute_url, '') as absolute_url
from mirror.files as file left join mirror.projects as project on project.id = file.project_id
where file.id = any (:ids::text[])
