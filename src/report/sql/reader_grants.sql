with names as (
  select quote_ident(:role) as role, quote_ident(current_database()) as database
),
-- Days are UTC days, also where the tool makes them of times. A setting for one database wins over the one for all.
zone as (
  select setdatabase <> 0 as is_of_database, entry ~* '=(etc/)?utc$' as is_utc
  from pg_db_role_setting
  join pg_roles on pg_roles.oid = setrole and rolname = :role
  left join pg_database on pg_database.oid = setdatabase
  cross join unnest(setconfig) as entry
  where entry ilike 'timezone=%' and (setdatabase = 0 or datname = current_database())
  order by is_of_database desc limit 1
),
schemas as (
  select place, quote_ident(nspname) as name, quote_ident(pg_get_userbyid(nspowner)) as owner,
         nspname = 'report' or :withPeople as may_read
  from pg_namespace
  join unnest(array['report', 'report_people']) with ordinality as ours (ours, place) on nspname = ours
),
granted as (
  select 10 + row_number() over (order by nspname) as place, quote_ident(nspname) as name,
         string_agg(format('%I.%I', nspname, relname), ', ' order by relname) as relations
  from pg_class join pg_namespace as space on space.oid = relnamespace
  where nspname || '.' || relname = any (:granted)
  group by nspname
)
select statement from (
  select 0 as place, 1 as step, format('create role %s login', role) as statement from names where :isNew
  union all
  select 0, 2, format('alter role %s set default_transaction_read_only = on', role) from names where :isNew
  union all
  select 0, 3, format('alter role %s set statement_timeout = %L', role, :timeout::text) from names where :isNew
  union all
  select 0, 4, format('alter role %s%s set timezone = %L', role, case when is_of_database then ' in database ' || database end, 'UTC')
  from names left join zone on true
  where is_utc is not true
  union all
  select 0, 5, format('grant connect on database %s to %s', database, role) from names
  union all
  select place, step, case when may_read
      then format(granting, name, role, owner)
      else format(revoking, name, role, owner) end
  from names, schemas, (values
    (1, 'grant usage on schema %1$s to %2$s', 'revoke usage on schema %1$s from %2$s'),
    (2, 'grant select on all tables in schema %1$s to %2$s', 'revoke all on all tables in schema %1$s from %2$s'),
    (3, 'alter default privileges for role %3$s in schema %1$s grant select on tables to %2$s',
        'alter default privileges for role %3$s in schema %1$s revoke select on tables from %2$s')
  ) as steps (step, granting, revoking)
  where may_read or not :isNew
  union all
  select place, 1, format('grant usage on schema %s to %s', granted.name, role) from names, granted
  union all
  select place, 2, format('grant select on %s to %s', relations, role) from names, granted
  union all
  -- Earlier versions granted all of it.
  select place, 3, format('revoke select on %s from %s', :notices::text, role) from names, granted where name = 'sync'
  union all
  select place, 4, format('grant select (%s) on %s to %s', :counted::text, :notices::text, role)
  from names, granted where name = 'sync'
) as steps
order by place, step
