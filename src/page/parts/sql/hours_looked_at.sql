select count(*) as looked_at
from (
  select date_trunc('hour', triggered_at)
  from report.fact_builds
  where succeeded is not null and project_id <> '-1'
    and :isShown
  group by 1
  having count(distinct project_id) >= 20
) as hour
