insert into sync.rounds (resource, began_run_id, started_at, records, checkpoint, total_count, nights)
values (:resource, :beganRunId, :startedAt, :records, :checkpoint::text::jsonb, :totalCount, :nights::text::jsonb)
on conflict (resource) do update set
  began_run_id = excluded.began_run_id, started_at = excluded.started_at, records = excluded.records,
  checkpoint = excluded.checkpoint, total_count = excluded.total_count, nights = excluded.nights
