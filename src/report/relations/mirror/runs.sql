CREATE OR REPLACE VIEW report.runs AS
SELECT run.id AS run_id, run.kind, CASE WHEN dead.run_id IS NULL THEN run.status ELSE 'interrupted' END AS status, run.started_at,
  coalesce(run.finished_at, died_at) AS finished_at,
  extract(epoch FROM coalesce(run.finished_at, died_at) - run.started_at)::float8 AS duration_s, run.requests, run.bytes,
  coalesce(walked.pages, 0) AS pages, coalesce(walked.records, 0)::bigint AS records, coalesce(walked.inserted, 0)::bigint AS inserted,
  coalesce(walked.updated, 0)::bigint AS updated, coalesce(walked.deleted, 0)::bigint AS deleted,
  coalesce(walked.restored, 0)::bigint AS restored, coalesce(walked.quarantined, 0)::bigint AS quarantined, run.transitions,
  cardinality(run.warnings) AS warnings,
  CASE WHEN dead.run_id IS NULL THEN run.error ELSE 'the process ended without closing its run' END AS error,
  (run.unfinished ->> 'deletions')::bigint + (run.unfinished ->> 'references')::bigint + (run.unfinished ->> 'open_builds')::bigint AS unfinished,
  coalesce(run.rounds, 1) AS rounds, coalesce(run.rounds_first_id, run.id) AS rounds_first_run_id, coalesce(run.rounds_since, run.started_at) AS rounds_since,
  coalesce(run.rounds_requests, run.requests) AS rounds_requests, coalesce(run.rounds_bytes, run.bytes) AS rounds_bytes,
  CASE
    WHEN dead.run_id IS NOT NULL THEN 'the process ended without closing its run'
    WHEN run.status NOT IN ('succeeded', 'running') THEN coalesce(run.error, nullif(concat_ws('; ', walked.reasons, (
      SELECT string_agg(format('%s %s', left_over, what), '; ') FROM (VALUES
        (walked.quarantined::bigint, 'records that could not be stored'),
        ((run.unfinished ->> 'deletions')::bigint, 'deletions to confirm'),
        ((run.unfinished ->> 'references')::bigint, 'references to ask for'),
        ((run.unfinished ->> 'open_builds')::bigint, 'open builds to poll')
      ) AS work (left_over, what) WHERE left_over > 0
    )), ''), nullif(array_to_string(run.warnings, '; '), ''))
  END AS reason
FROM sync.runs AS run
LEFT JOIN rollup.dead_runs AS dead ON dead.run_id = run.id
LEFT JOIN LATERAL (
  SELECT sum(pages) AS pages, sum(records) AS records, sum(inserted) AS inserted, sum(updated) AS updated, sum(deleted) AS deleted,
    sum(restored) AS restored, sum(quarantined) AS quarantined, string_agg(DISTINCT reason, '; ') AS reasons
  FROM sync.walks WHERE walks.run_id = run.id
) AS walked ON true;
