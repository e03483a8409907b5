-- Runs that are open, and whose process is dead: it never closed them, and the lock of a run is free at once. Who has that lock under either of
-- its numbers, and may write the mirror, has it (src/store/ledger/writers-lock.ts); a session that is newer than the run's last sign of life is
-- another process. A standby does not know the locks of its primary.
CREATE OR REPLACE VIEW rollup.dead_runs AS
SELECT run.id AS run_id, run.heartbeat_at AS died_at
FROM sync.runs AS run
WHERE run.status = 'running' AND CASE
  WHEN pg_is_in_recovery() THEN run.heartbeat_at < clock_timestamp() - interval '1 minute'
  ELSE NOT EXISTS (
    SELECT FROM pg_locks AS lock JOIN pg_stat_activity AS session ON session.pid = lock.pid
    WHERE locktype = 'advisory' AND granted AND lock.database = session.datid AND session.datname = current_database()
      AND (objsubid = 1 AND (classid::bigint << 32) | objid::bigint = 7237112447779369583
        OR objsubid = 2 AND classid::bigint = 7237112447779369583 & 4294967295)
      AND EXISTS (
        SELECT FROM pg_roles AS role
        WHERE pg_has_role(session.usesysid, role.oid, 'member') AND has_table_privilege(role.oid, 'sync.runs'::regclass, 'update')
      )
      -- Other roles do not see when a session began.
      AND (session.backend_start <= run.heartbeat_at) IS NOT FALSE
  )
END;
