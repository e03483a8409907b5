-- Runs that are open, and whose process is dead: it never closed them, and the lock of a run is free at once. Anybody may take that lock by its
-- number, so its holder must be a role that may write, whose session is no newer than the run's last sign of life. A standby does not know the
-- locks of its primary.
CREATE OR REPLACE VIEW rollup.dead_runs AS
SELECT run.id AS run_id, run.heartbeat_at AS died_at
FROM sync.runs AS run
WHERE run.status = 'running' AND CASE
  WHEN pg_is_in_recovery() THEN run.heartbeat_at < clock_timestamp() - interval '1 minute'
  ELSE NOT EXISTS (
    SELECT FROM pg_locks AS lock JOIN pg_stat_activity AS session ON session.pid = lock.pid
    WHERE locktype = 'advisory' AND granted AND lock.database = session.datid AND session.datname = current_database()
      AND objsubid = 1 AND (classid::bigint << 32) | objid::bigint = 7237112447779369583
      AND has_table_privilege(session.usesysid, 'sync.runs'::regclass, 'update')
      -- Other roles do not see when a session began.
      AND (session.backend_start <= run.heartbeat_at) IS NOT FALSE
  )
END;
