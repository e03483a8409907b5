-- Backups, exports and prunes that fail. The position holds since when: until one is good again, its failures are one notice.
with failing as (
  select job, failed_at, failed_at::text as since, left(error, 2000) as error, good_at, what from sync.jobs where failed_at is not null
)
select coalesce(jsonb_object_agg(job, since), '{}')::text as position,
  coalesce(jsonb_agg(failing order by job)
    filter (where :position::text::jsonb ->> job is distinct from since), '[]') as news
from failing
