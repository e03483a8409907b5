select *
from (
:runs
) as spell
where ended_at > :now::timestamptz - interval '25 hours'
order by last_run_id desc
