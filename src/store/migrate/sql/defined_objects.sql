with object as (
  select nspname || '.' || relname as name, 'view' as kind, format('%I.%I', nspname, relname) as identity,
    relowner as owner, coalesce(relacl, acldefault('r', relowner)) as rights
  from pg_class join pg_namespace as space on space.oid = relnamespace
  where relkind = 'v'
  union all
  select nspname || '.' || proname, 'function', routine.oid::regprocedure::text,
    proowner, coalesce(proacl, acldefault('f', proowner))
  from pg_proc as routine join pg_namespace as space on space.oid = pronamespace
)
select name, kind, identity, (
  select coalesce(jsonb_agg(jsonb_build_object(
    'privilege', privilege_type,
    'grantee', case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end,
    'isGrantable', is_grantable
  )), '[]')
  from aclexplode(rights) where grantee <> owner
) as rights
from object
where name = any (:wanted)
order by name
