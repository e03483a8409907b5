select failing.project_id, failing.version_id, failing.version_slug, failing.type
from :shown
cross join lateral (
  select * from report.failing_now as failing where failing.project_id = shown.project_id limit 50
) as failing
