-- The outbox of notices in figures.
select count(*) filter (where delivered_at is null and given_up_at is null) as docmirror_notices_waiting,
  extract(epoch from min(noted_at) filter (where delivered_at is null and given_up_at is null))::float8
    as docmirror_notices_oldest_waiting_timestamp_seconds,
  count(given_up_at) as docmirror_notices_given_up
from sync.notices
