with matched as materialized (
  select content.file_id, coalesce(content.title_key = :titleKey, false) as is_exact,
    coalesce(content.title_search @@ (select plainto_tsquery('simple', :folded)), false) as in_title
  from mirror.file_contents as content
  where content.search @@ (select plainto_tsquery('simple', :folded)) and (is_shown.sql)
), pool as (
  select * from matched
  order by is_exact desc, in_title desc, length(file_id), file_id
  limit :poolSize offset :poolOffset
), ranked as (
  select pool.*, :rank as rank
  from pool join mirror.file_contents as content on content.file_id = pool.file_id
), hit as (
  select row_number() over (order by is_exact desc, rank desc, :byTitle length(file_id), file_id) as place, file_id, rank
  from ranked order by place limit :limit offset :offset
)
select (select count(*) from matched) as total, coalesce((
  select jsonb_agg(to_jsonb(found) order by place)
  from (
    select hit.place, hit.file_id as "fileId", rank, content.title, left(content.text, :firstRead) as start,
      file.absolute_url as "absoluteUrl", file.path, file.name, content.url, project.subdomain
    from hit
    join mirror.file_contents as content on content.file_id = hit.file_id
    join mirror.files as file on file.id = content.file_id
    left join mirror.projects as project on project.id = content.project_id
  ) as found
), '[]') as hits
