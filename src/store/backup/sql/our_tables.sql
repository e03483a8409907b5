select nspname || '.' || relname as name, nspname as schema, format('%I.%I', nspname, relname) as quoted,
  array_agg(attname::text order by attnum) as columns
from pg_class as class
join pg_namespace as space on space.oid = relnamespace
join pg_attribute on attrelid = class.oid and attnum > 0 and not attisdropped and attgenerated = ''
where nspname in ('mirror', 'sync', 'rollup', 'report') and relkind = 'r'
  and (nspname, relname) not in (('sync', 'definitions'), ('sync', 'migrations'))
group by nspname, relname
order by 1
