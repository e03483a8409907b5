with names as (
  select quote_ident(:role) as role, quote_ident(current_database()) as database
),
ours as (
  select quote_ident(nspname) as name, quote_ident(pg_get_userbyid(nspowner)) as owner,
    -- A refresh has the tables that it filled analyzed. Before Postgres 17 only their owner may, and autovacuum does it.
    case nspname when 'report_people' then 'select' else 'select, insert, update, delete'
      || case when current_setting('server_version_num')::int >= 170000 then ', maintain' else '' end end as rights
  from pg_namespace where nspname in ('mirror', 'sync', 'rollup', 'report', 'report_people')
)
select statement from (
  select 1 as step, format('grant connect, temporary on database %s to %s', database, role) as statement from names
  union all
  select step, format(text, rights, name, role, owner) from names, ours, (values
    (2, 'grant usage on schema %2$s to %3$s'),
    (3, 'grant %1$s on all tables in schema %2$s to %3$s'),
    -- A backup has the numbers that are given next.
    (4, 'grant select on all sequences in schema %2$s to %3$s'),
    (5, 'alter default privileges for role %4$s in schema %2$s grant %1$s on tables to %3$s'),
    (5, 'alter default privileges for role %4$s in schema %2$s grant select on sequences to %3$s')
  ) as texts (step, text)
  union all
  -- They say which schema this is.
  select 6, format('revoke insert, update, delete on sync.migrations, sync.definitions from %s', role) from names
) as steps
order by step
