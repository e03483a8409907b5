select percentile_disc(0.5) within group (order by gap_s) as usual_s
from (
  select extract(epoch from started_at - lag(started_at) over (order by run_id))::float8 as gap_s
  from (
    select run_id, started_at from report.walks
    where resource = 'build' and is_good
    order by run_id desc limit 11
  ) as look
) as gap
