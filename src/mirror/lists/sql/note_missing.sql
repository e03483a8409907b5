-- Notes the records that a whole walk did not see, and keeps back those that are too many at once.
with unseen as (
  -- A stored moment is later where a clock was put back since.
  select id, least(stored.noticed_at, :noticedAt::timestamptz) as noticed_at,
    -- What is asked for already is not held back again.
    :isHeld and (stored.record_id is null or stored.held_until is not null) as is_held
  from unnest(:unseen::text[]) as unseen (id)
  left join sync.missing_records as stored on stored.resource = :resource and stored.record_id = id
), judged as (
  select *, case when is_held then coalesce(noticed_at + :waitsMs::float8 * interval '1 ms', 'infinity') end as until
  from unseen
)
insert into sync.missing_records (resource, record_id, run_id, noticed_at, held_until)
select :resource, id, :runId, noticed_at, case when until > :noticedAt::timestamptz then until end
from judged
on conflict (resource, record_id) do update
set run_id = excluded.run_id, noticed_at = excluded.noticed_at, held_until = excluded.held_until
