-- Renews a lease. The session is that which ends with the process: one row, of nulls behind a pooler.
update sync.leases set renewed_at = clock_timestamp(), until = clock_timestamp() + :lastsMs * interval '1 millisecond',
  backend_pid = session.pid, backend_start = session.backend_start
from (values (1)) as one left join pg_stat_activity as session on session.pid = pg_backend_pid() and :hasSession
where name = :name and term = :term
