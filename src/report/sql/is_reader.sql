-- True where the role may read all these schemas and relations. No row where there is no such role.
select not exists (
  select from pg_class as relation join pg_namespace as space on space.oid = relnamespace
  where relkind in ('r', 'v') and (nspname = any (:schemas::text[]) or nspname || '.' || relname = any (:relations))
    and not (has_schema_privilege(role.oid, space.oid, 'usage') and has_any_column_privilege(role.oid, relation.oid, 'select'))
) as may
from pg_roles as role where rolname = :role
