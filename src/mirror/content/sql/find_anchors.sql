with anchor as (
  select anchor.file_id, anchor.position, length(anchor.search) as words
  from mirror.file_anchors as anchor
  where anchor.search @@ (select plainto_tsquery('simple', :folded))
  :best
), hit as (
  select anchor.* from anchor join mirror.file_contents as content on content.file_id = anchor.file_id
  where (is_shown.sql)
  order by words, length(anchor.file_id), anchor.file_id, anchor.position limit :most
)
select content.anchors, anchor.position,
  file.absolute_url as "absoluteUrl", file.path, file.name, content.url, project.subdomain
from hit as anchor
join mirror.file_contents as content on content.file_id = anchor.file_id
join mirror.files as file on file.id = content.file_id
left join mirror.projects as project on project.id = content.project_id
order by words, length(anchor.file_id), anchor.file_id, anchor.position
