-- The moment that an export shows.
select nullif(refreshed_run_id, 0)::float8 as run_id,
       now() as exported_at, (now() at time zone 'UTC')::date::text as exported_on, refreshed_at,
       -- With a role that only reads, the answers may be older than the last walk.
       case when last_good_at <= refreshed_at then current_through end as current_through,
       covered_through, (covered_through at time zone 'UTC')::date::text as covered_on
from report.freshness where resource = 'build'
