with relation as (
  select nspname as schema, relname as name, pg_total_relation_size(pg_class.oid) as bytes
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where nspname in ('mirror', 'sync', 'report', 'rollup') and relkind in ('r', 'm')
    -- To ask for the size of a table that is written anew would be to wait for that.
    and not exists (
      select from pg_locks join pg_database on pg_database.oid = pg_locks.database
      where datname = current_database() and relation = pg_class.oid and mode = 'AccessExclusiveLock'
    )
),
night as (
  select database_bytes as bytes, extract(epoch from finished_at)::float8 / 86400 as day from sync.runs
  where kind <> 'watch' and finished_at between now() - interval '30 days' and now()
)
select
  -- A role that a session took later may lack the right to ask.
  case when has_database_privilege(current_database(), 'connect') then pg_database_size(current_database()) end as database_bytes,
  (
    select coalesce(jsonb_object_agg(schema, bytes), '{}')
    from (select schema, sum(bytes) as bytes from relation group by schema order by schema) as sums
  ) as schema_bytes,
  (select coalesce(sum(bytes), 0)::bigint from relation where schema = 'mirror' and name = 'build_logs') as logs_bytes,
  (
    select regr_slope(bytes, day) from night where bytes is not null having max(day) - min(day) >= 7
  ) as growth_bytes_per_day
