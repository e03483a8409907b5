select count(*) as looks, count(*) filter (where not is_good) as not_whole,
  (array_agg(total_count order by run_id desc) filter (where total_count is not null))[1] as total_count
from report.walks
where resource = 'build' and finished_at is not null and started_at > :since::timestamptz
