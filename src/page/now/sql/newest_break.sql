select project_slug, newest_failing_since
from :failing
order by newest_failing_since desc nulls last, project_slug, project_id
limit 1
