-- The sequences of our tables, and the last number that each gave; 0 for none.
select nspname || '.' || relname as table, attname as column, sequence,
  coalesce(pg_sequence_last_value(sequence::regclass), 0)::text as last
from pg_attribute
join pg_class as relation on relation.oid = attrelid
join pg_namespace as space on space.oid = relnamespace
cross join lateral pg_get_serial_sequence(format('%I.%I', nspname, relname), attname) as sequence
where nspname in ('mirror', 'sync') and attidentity <> '' and relkind = 'r'
  and has_table_privilege(relation.oid, 'select') and has_sequence_privilege(sequence, 'usage, select')
order by 1
