with reader as (select coalesce((select rolname from pg_roles where rolname = :role), 'public') as name),
-- A role can also switch to the roles that it is a member of, even without inheriting from them.
acting as (
  select name from reader where name = 'public'
  union all
  select rolname from pg_roles, reader where name <> 'public' and pg_has_role(name, rolname, 'member')
),
hidden as (
  select relation.oid, space.oid as space, format('%I.%I', nspname, relname) as name
  from pg_class as relation
  join pg_namespace as space on space.oid = relnamespace
  where relkind in ('r', 'p', 'v', 'm') and nspname in ('mirror', 'sync', 'rollup')
    and nspname || '.' || relname <> all (:allowed)
)
select reader.name <> 'public' as exists, coalesce(rolsuper, false) as superuser,
       coalesce(rolcreaterole, false) as createrole, readable.name as reads, readable.acting as through
from reader
left join pg_roles on rolname = reader.name
left join lateral (
  select hidden.name, acting.name as acting from hidden, acting
  where has_schema_privilege(acting.name, hidden.space, 'usage') and has_any_column_privilege(acting.name, hidden.oid, 'select')
  order by acting.name <> reader.name, hidden.name
  limit 1
) as readable on true
