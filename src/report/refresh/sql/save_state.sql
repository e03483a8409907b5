-- Stores what the answers of this refresh are made of, in its transaction, whose end notifies of the newest run.
insert into rollup.state (id, source_timezone, stuck_after_s, definition, run_id, covered_through, refreshed_at)
values (1, :sourceTimezone, :stuckAfterS, :definition, :runId, :coveredThrough, now())
on conflict (id) do update set
  source_timezone = excluded.source_timezone, stuck_after_s = excluded.stuck_after_s, definition = excluded.definition,
  run_id = excluded.run_id, covered_through = excluded.covered_through, refreshed_at = excluded.refreshed_at
returning pg_notify('docmirror_run', run_id::text)
