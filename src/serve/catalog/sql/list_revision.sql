-- The revision of a list, when it last changed, and how long ago that was, by the clock of the database. The times belong to the
-- revision: a database that was restored, or a standby that took over, may count to the same number again.
select string_agg(concat_ws(' ', resource, revision, changed_at), ', ' order by resource) as revision,
  (extract(epoch from max(changed_at)) * 1000)::float8 as changed_ms,
  (extract(epoch from clock_timestamp() - max(changed_at)) * 1000)::float8 as age_ms
from sync.revisions where resource = any (:resources::text[])
