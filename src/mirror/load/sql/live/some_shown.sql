-- The ids of some records that the newest whole walk of a list has shown, others in each run.
select id from mirror.RECORDS as record
where IS_LISTED and not exists (
  select from sync.missing_records where resource = :resource and record_id = record.id)
order by md5(id || :runId::bigint) limit 3
