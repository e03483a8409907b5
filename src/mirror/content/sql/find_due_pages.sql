-- A page is due in each run while it has validators, or while its last request failed in a way that may pass.
-- Any other is due when it is new, when its record or the base of the pages has changed, and after a week.
-- The pages of deleted projects are never due. The longest unasked come first; `due` counts all.
select
  file.id as "fileId", file.project_id as "projectId", file.absolute_url as "absoluteUrl", file.path, content.url,
  content.etag, content.last_modified as "lastModified", content.search is not null as "isIndexed",
  count(*) over () as due
from mirror.files as file
left join mirror.projects as project on project.id = file.project_id
left join mirror.file_contents as content on content.file_id = file.id
where file.deleted_at is null and project.deleted_at is null
  and (content.file_id is null or content.asked_run_id <> :runId::bigint and (
    content.etag is not null or content.last_modified is not null
    or content.reason is not null and content.url is not null
      and not coalesce(content.http_status between 200 and 399 or content.http_status = any (:gone::smallint[]), false)
    or content.docs_url <> :docsUrl
    or content.absolute_url is distinct from file.absolute_url
    or file.changed_run_id > content.asked_run_id
    or content.asked_at <= :now::timestamptz - interval '7 days'
  ))
order by content.asked_at nulls first, length(file.id), file.id
limit :limit
