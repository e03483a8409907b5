-- A random sample: half by the records of the mirror that these lists should show, half by the places of the lists.
(
  select resource, id, 0 as place
  from (
    select 'build' as resource, id from mirror.builds where 'build' = any (:resources) and deleted_at is null
    union all select 'file', id from mirror.files where 'file' = any (:resources) and deleted_at is null
    union all select 'project', id from mirror.projects where 'project' = any (:resources) and deleted_at is null and listed
    union all select 'user', id from mirror.users where 'user' = any (:resources) and deleted_at is null
    union all select 'version', id from mirror.versions where 'version' = any (:resources) and deleted_at is null
  ) as record
  order by random() limit :records::int
)
union all
(
  select resource, null, place
  from jsonb_each(:lists::text::jsonb) as of (resource, list)
  cross join generate_series(0, (list ->> 'records')::bigint - 1) as place
  order by random() limit :places::int
)
