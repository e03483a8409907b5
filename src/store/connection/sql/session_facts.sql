-- Each session as others see it.
select pid, usename::text as role, coalesce(nullif(application_name, ''), backend_type, '') as name,
  to_char(backend_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"') as "startedAt",
  to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"') as "inTransactionSince",
  state = 'active' as "isActive", xact_start, wait_event_type
from pg_stat_activity
