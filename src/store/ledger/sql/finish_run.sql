update sync.runs set
  status = :status, finished_at = :finishedAt, heartbeat_at = now(), error = :error, warnings = :warnings,
  requests = :requests::bigint, bytes = :bytes::bigint, replaced_nul = :replacedNul, transitions = :transitions,
  references_resolved = :resolved, references_unresolved = :unresolved, unfinished = :unfinished::text::jsonb,
  clock_ahead_min_ms = :clockAheadMinMs, clock_ahead_max_ms = :clockAheadMaxMs,
  certificate_ends_at = :certificateEndsAt::timestamptz,
  -- Rounds come each minute, and the growth is that of weeks. A role that a session took later may lack the right to ask.
  database_bytes = case
    when kind <> 'watch' and has_database_privilege(current_database(), 'connect') then pg_database_size(current_database())
  end,
  rounds = case when :isQuiet::boolean then 1 end,
  rounds_first_id = case when :isQuiet::boolean then id end,
  rounds_since = case when :isQuiet::boolean then started_at end,
  rounds_requests = case when :isQuiet::boolean then :requests::bigint end,
  rounds_bytes = case when :isQuiet::boolean then :bytes::bigint end
where id = :runId and (status = 'running' or status = :status and finished_at = :finishedAt)
