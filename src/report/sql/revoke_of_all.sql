-- Takes from each role the right to make temporary tables and large objects, which Postgres gives to all.
do $$ declare made text; begin
  execute format('revoke temporary on database %I from public', current_database());
  for made in
    select oid::regprocedure::text from pg_proc
    where pronamespace = 'pg_catalog'::regnamespace and proname in ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_open', 'lo_put', 'lowrite', 'lo_unlink')
  loop
    execute format('revoke execute on function %s from public', made);
  end loop;
end $$
