-- The tables of ours from which this role may read, but not every row. Where row_security is off, a statement fails instead of hiding.
select nspname || '.' || relname as table,
  coalesce((select string_agg(polname, ', ' order by polname) from pg_policy where polrelid = relation.oid), '') as policies
from pg_class as relation join pg_namespace as space on space.oid = relnamespace
where nspname in ('mirror', 'sync', 'rollup', 'report') and relrowsecurity and row_security_active(relation.oid)
  and has_table_privilege(relation.oid, 'select')
  and not (:quietly and current_setting('row_security') = 'off')
order by 1
