select :columns
  , count(*) over () as total, min(failing_since) over () as oldest -- on the page
from report.failing_now
where project_id = :id
order by is_main desc, failing_since desc nulls last, version_slug, version_id, type, reference
limit 25 -- on the page
