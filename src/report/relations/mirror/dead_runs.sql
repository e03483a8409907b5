-- Runs that are open, and whose process is dead: it never closed them, and its lease is over.
CREATE OR REPLACE VIEW rollup.dead_runs AS
SELECT run.id AS run_id, run.heartbeat_at AS died_at
FROM sync.runs AS run
WHERE run.status = 'running'
  AND NOT EXISTS (SELECT FROM sync.leases AS lease WHERE lease.name = 'run' AND lease.term = run.term AND sync.is_held(lease));
