-- The sessions that keep those of this role with the name of this session waiting for a lock, the longest first. One that waits in the
-- same line is left out. A transaction that was prepared for a commit in two steps has no session.
with blocker as (
  select distinct unnest(pg_blocking_pids(pid)) as pid from pg_stat_activity
  where datname = current_database() and usename = session_user
    and application_name = current_setting('application_name') and wait_event_type = 'Lock'
)
select pid, role, coalesce(name, '') as name, "startedAt", "inTransactionSince", "isActive"
from blocker left join (session_facts.sql) as session using (pid)
where (wait_event_type = 'Lock') is not true
order by xact_start, pid
