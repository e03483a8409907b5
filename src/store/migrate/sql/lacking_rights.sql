with ours as (
  select name, to_regnamespace(name)::oid as id
  from unnest(array['mirror', 'sync', 'rollup', 'report']) with ordinality as schema (name, place)
),
is_new as (select bool_and(id is null) as value from ours),
usable as (select name, id from ours where has_schema_privilege(id, 'usage'))
select case when is_new.value then 'sync' else 'migrate' end as need,
  format('create schemas in the database %I', current_database()) as lacking
from is_new where not has_database_privilege(current_database(), 'create')
union all
select 'sync', format('make temporary tables in the database %I', current_database())
where not has_database_privilege(current_database(), 'temporary')
union all
select 'sync', format('use the schema %I', name)
from ours where id is not null and not has_schema_privilege(id, 'usage')
union all
select 'migrate', format('change the schema %I, which belongs to %I', name, pg_get_userbyid(nspowner))
from ours join pg_namespace as space on space.oid = id
where not pg_has_role(nspowner, 'usage')
union all
select 'sync', format('%s %s.%I', verb.words, name, relname)
from usable
join pg_class as relation on relnamespace = usable.id and relkind in ('r', 'p')
cross join (values
  ('select', 'read'), ('insert', 'insert into'), ('update', 'update'), ('delete', 'delete from')
) as verb (privilege, words)
where (name <> 'sync' or relname not in ('migrations', 'definitions') or privilege = 'select')
  and not has_table_privilege(relation.oid, privilege)
union all
select 'sync', format('call %s', routine.oid::regprocedure)
from usable
join pg_proc as routine on pronamespace = usable.id
where not has_function_privilege(routine.oid, 'execute')
