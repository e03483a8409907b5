select build_id, project_slug, version_slug, type, triggered_at,
  count(*) over () as projects, -- on the page
  exists (
    select from report.failing_now as failing
    where (failing.project_id, failing.version_id, failing.type) = (build.project_id, build.version_id, build.type)
  ) as is_failing
from (
  select distinct on (project_id) *
  from report.fact_builds
  where :is_of_kind and error_line_id = :line
  order by project_id, triggered_at desc
) as build
order by triggered_at desc, build_id desc
limit 6 -- on the page
