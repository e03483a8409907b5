-- False where this session or the server is read-only, or where the role may not write the stored answers.
select current_setting('transaction_read_only') = 'off' and exists (
  select from pg_class join pg_namespace as space on space.oid = relnamespace
  where (nspname, relname) = ('rollup', 'state')
    and has_schema_privilege(space.oid, 'usage') and has_table_privilege(pg_class.oid, 'insert')
) as "mayWrite"
