-- Stores what is news and wanted, in the order in which it is given, each subject once.
insert into sync.notices (subject, type, data)
select subject, type, data
from rows from (jsonb_to_recordset(:news::text::jsonb) as (subject text, type text, data jsonb))
  with ordinality as news (subject, type, data, place)
where (:types::text[] is null or type = any (:types::text[]))
  and (
    coalesce(data ->> 'project_slug', '') = ''
    or data ->> 'project_slug' like any (:patterns::text[])
      and not exists (
        select from sync.muted_projects where project_slug = data ->> 'project_slug' and until > now())
  )
order by place
on conflict (subject) do nothing
