-- No other run begins before the transaction is committed.
with run as (
  select run.id from sync.runs as run join sync.leases as lease on lease.name = 'run' and lease.term = run.term
  where run.id = :runId and status = 'running' for key share of lease
)
update sync.walks set
  started_at = least(started_at, :oldestAt::timestamptz),
  pages = :pages, records = :records, inserted = :inserted, updated = :updated, unchanged = :unchanged,
  deleted = :deleted, restored = :restored, quarantined = :quarantined, total_count = :totalCount,
  checkpoint = :checkpoint::text::jsonb, checkpoint_at = :at,
  walk = :walk, reason = :reason, unstored = :unstored, deficit = :deficit,
  unshown = :unshown, repeated = :repeated, held = :held, finished_at = :finishedAt,
  read_since = case when :readSince::timestamptz is not null then least(:readSince, :finishedAt) end,
  round_records = :roundRecords, round_reason = :roundReason,
  search_requests = :searchRequests, search_is_done = :searchIsDone
from run where run_id = run.id and resource = :resource
