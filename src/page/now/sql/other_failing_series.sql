select other.*
from :shown
cross join lateral (
  select * from :failing
  where failing.project_id = shown.project_id
    and failing.first_failed_build_id <> shown.first_failed_build_id
  order by failing_since desc nulls last, version_slug, type
  limit 20
) as other
