-- What earlier walks have left and the end of a whole walk of the list may settle, and the first ids of the list.
select
  (select count(*) from sync.missing_records where resource = :resource) as missing,
  (select count(*) from sync.quarantine where resource = :resource and resolved_at is null) as refused,
  (select max(seq) from sync.pages where resource = :resource) as "lastPage",
  array(
    select record_id from mirror.changes
    where resource = :resource and kind = 'restored' and run_id >= :beganRunId::bigint
      and observed_at >= (select started_at - interval '1 day' from sync.runs where id = :beganRunId::bigint)
  ) as restored,
  listed.*
from (id_window.sql) as listed
