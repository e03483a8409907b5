select version_slug, type, broke_at, recovered_at, recovered_build_id, failures, error_class
  , count(*) over () as total -- on the page
from report.recoveries
where project_id = :id and not is_open
order by recovered_at desc nulls last, first_failed_build_id desc
limit 5 -- on the page
