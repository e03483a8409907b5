select id from (
  select id, date, first_seen_at, first_seen_run_id from mirror.builds where deleted_at is null
  order by coalesce(date, 'infinity'::timestamp) desc limit :newest
) as newest
where first_seen_run_id < :runId and first_seen_at <= :askedAt::timestamptz
  and first_seen_at > :askedAt::timestamptz - :replicaLagMs::float8 * interval '1 ms'
  and date > coalesce((select max(date) from mirror.builds where id = any (:ids::text[])), '-infinity')
  and not exists (select from sync.missing_records where resource = 'build' and record_id = newest.id)
  and not exists (select from sync.open_builds where build_id = newest.id and vanished_at is not null)
order by date desc limit 1
