-- The sessions that have a lock of this mode on a table.
select distinct lock.pid, role, name, "startedAt", "inTransactionSince", "isActive"
from pg_locks as lock join (session_facts.sql) as session on session.pid = lock.pid
where lock.relation = :table::regclass and granted and lower(lock.mode) = :lock
  and lock.database = (select oid from pg_database where datname = current_database())
