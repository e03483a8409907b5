-- The users that have the name, or had it, with all names that each had, from its record and its history; else the user of that id.
with form as (
  select id, to_jsonb(person) as fields from mirror.users as person
  union all
  select record_id, fields from mirror.changes cross join lateral (values (before), (after)) as side (fields)
  where resource = 'user' and fields is not null
), named as (
  select distinct id from form where fields ->> 'username' = :name
)
select person.id, person.deleted_at is not null as "isDeleted",
  coalesce(jsonb_agg(distinct fields ->> 'username') filter (where fields ->> 'username' <> ''), '[]') as usernames,
  coalesce(jsonb_agg(distinct fields ->> 'first_name') filter (where fields ->> 'first_name' <> ''), '[]') as firsts,
  coalesce(jsonb_agg(distinct fields ->> 'last_name') filter (where fields ->> 'last_name' <> ''), '[]') as lasts,
  coalesce(jsonb_agg(distinct fields ->> 'resource_uri') filter (where fields ->> 'resource_uri' <> ''), '[]') as uris
from mirror.users as person join form on form.id = person.id
where person.id in (select id from named) or person.id = :name and not exists (select from named)
group by person.id order by person.id
