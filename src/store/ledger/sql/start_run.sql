with held as materialized (
  -- The proof of the lease: nobody takes it over before this is committed.
  select from sync.leases where name = 'run' and term = :term and until > '-infinity' for key share
), own as (
  -- It was opened before, and the answer was lost.
  select id from sync.runs where status = 'running' and term = :term
), dead as (
  update sync.runs set status = 'interrupted', finished_at = heartbeat_at, error = 'the process ended without closing its run'
  where status = 'running' and not exists (select from own) and exists (select from held)
  returning id
), opened as (
  insert into sync.runs (kind, status, started_at, heartbeat_at, pid, host, term)
  -- A run that a dead process left open ends before the next one begins: the count makes Postgres close it first.
  select :kind, 'running', :startedAt::timestamptz, now(), :pid, :host, :term
  where not exists (select from own) and exists (select from held) and (select count(*) from dead) >= 0
  returning id
)
select coalesce((select id from own), (select id from opened)) as "runId", array(select id from dead order by id) as interrupted
from held
