CREATE OR REPLACE VIEW report.walks AS
SELECT run_id, resource, walk, reason, started_at, finished_at, extract(epoch FROM finished_at - started_at)::float8 AS duration_s, pages,
  records, inserted, updated, deleted, restored, quarantined, total_count, deficit, coalesce(unstored, 0) AS unstored,
  coalesce(is_good, false) AS is_good, round_records, round_reason, search_requests, search_is_done
FROM sync.walks;
