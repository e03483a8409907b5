-- With any result, so that they come after those that were not asked for. An answer that decided nothing counts once a run.
update sync.missing_records as missing
set asked_at = :at::timestamptz,
  found_at = case when outcome = 'found' then :at::timestamptz end,
  gone_at = case when outcome = 'waiting' then :at::timestamptz end,
  undecided_runs = case
    when outcome in ('found', 'waiting') then 0
    when outcome = 'silent' or asked_at = :at::timestamptz then undecided_runs
    else undecided_runs + 1
  end
from jsonb_to_recordset(:answers::text::jsonb) as answer (resource text, id text, outcome text)
where missing.resource = answer.resource and missing.record_id = answer.id
