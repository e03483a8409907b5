-- What a refresh would store as its state now (`latest`), and what the last one stored. One row: before the first refresh it has
-- nulls for what was stored.
with latest as materialized (
  select
    -- One hash of all definitions that compute stored answers. When another one comes, all is computed again.
    (select coalesce(md5(string_agg(hash, '' order by name)), '') from sync.definitions where name like 'rollup.%') as definition,
    -- The newest run that ended. One that is under way may write more, so the next refresh reads its builds again.
    (select coalesce(max(id), 0) from sync.runs where status <> 'running') as last_run_id,
    -- Grows with each statement that changed a record.
    (select coalesce(sum(revision), 0)::bigint from sync.revisions) as revision,
    -- The moment before which everything has been read: the start of the newest good walk, once any walk was whole. A walk that
    -- a wrong clock dated ahead of now covers only up to now.
    (
      select least(started_at, now()) from sync.walks
      where resource = 'build' and is_good and finished_at is not null
        and exists (select from sync.walks where resource = 'build' and walk = 'whole')
      order by run_id desc limit 1
    ) as covered_through
)
select latest.*, state.run_id, state.source_timezone, state.stuck_after_s,
  latest.definition is distinct from state.definition as is_redefined,
  -- A record has changed, or another hour has been read, since the expensive answers were computed.
  dear_refreshed_at is null or dear_revision <> latest.revision
    or coalesce(latest.covered_through >= (select max(hour) + interval '1 hour' from rollup.backlog), false) as are_expensive_behind,
  -- They take one part in so many of the time at most.
  coalesce(now() - dear_refreshed_at >= :expensiveShare::int * dear_took_s * interval '1 s', true) as are_expensive_due,
  exists (
    select from sync.runs
    where kind in ('full', 'incremental') and status <> 'running' and id > state.run_id
  ) and (now() - checked_at between interval '0' and :checkAfterHours::int * interval '1 hour') is not true as is_check_due,
  coalesce(next_dated_at <= now(), false) as is_ahead_over,
  not exists (
    select from report.dim_dates
    where day = make_date(extract(year from now() at time zone 'UTC')::int + 1, 12, 31)
  ) as is_calendar_over,
  exists (select from rollup.failed_refresh) as is_failed,
  (select bool_or(record_id is null) from sync.touched_records) as is_any_touched,
  pg_relation_size('sync.touched_records') as touched_bytes
from latest left join rollup.state on state.id = 1
