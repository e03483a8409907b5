-- Whether the tables of the schema's ledger are there. From the catalog: to_regclass fails where another program hides its schema from
-- our role.
select count(*) = 2 as "isMade"
from pg_class join pg_namespace as space on space.oid = relnamespace
where (nspname, relname) in (('sync', 'migrations'), ('sync', 'definitions'))
