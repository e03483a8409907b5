select
  count(*) as missing,
  count(*) filter (where found_at is null and gone_at is null and undecided_runs < :runsToDecide) as deletions,
  count(*) filter (where gone_at is not null) as waiting
from sync.missing_records
where held_until is null and (:runId::bigint is null or run_id = :runId::bigint or asked_at is null)
