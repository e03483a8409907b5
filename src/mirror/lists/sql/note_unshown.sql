-- Notes builds that replies do not show in a range that they show whole, by the key of the served list, which has an index. A build
-- without a date has no place in the order.
insert into sync.missing_records (resource, record_id, run_id, noticed_at)
select 'build', id, :runId, :noticedAt::timestamptz from mirror.builds
where deleted_at is null and date is not null and first_seen_run_id < :runId
  and coalesce(date, 'infinity') > :newerThan::timestamp and coalesce(date, 'infinity') < :olderThan::timestamp
  and id <> all (:shown::text[])
on conflict (resource, record_id) do nothing
