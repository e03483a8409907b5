-- Ids of a table in their order, as one row of JSON, because rows cost the driver more than ids: those that the list should show, by
-- whether they were stored before the walk began.
select json_build_object(
    'older', coalesce(json_agg(id) filter (where is_listed and is_older), '[]'),
    'newer', coalesce(json_agg(id) filter (where is_listed and not is_older), '[]')
  )::text as ids, max(id) as last, count(*) as rows
from (
  select id, first_seen_run_id < :beganRunId::bigint as is_older, IS_LISTED as is_listed
  from mirror.RECORDS where id > :after order by id limit :window
) as listed
