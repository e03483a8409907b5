select series.*, version.version_slug, version.is_deleted, version.is_active,
  failing.first_failed_build_id is not null as is_failing,
  count(*) over () as total, -- on the page
  version.is_main and version.project_id = :id and series.type = 'html' and not version.is_deleted as is_main
from (
  select version_id, type, reference, count(*) as builds, count(succeeded) as finished,
    coalesce(sum(succeeded), 0) as succeeded, max(triggered_at) as last_triggered_at
  from report.fact_builds
  where project_id = :id
  group by version_id, type, reference
) as series
left join report.dim_versions as version on version.version_id = series.version_id
left join report.failing_now as failing on failing.project_id = :id and failing.version_id = series.version_id
  and failing.type = series.type and failing.reference is not distinct from series.reference
order by is_main desc nulls last, is_failing desc, series.last_triggered_at desc nulls last, version.version_slug,
  series.version_id, series.type, series.reference
limit :most -- on the page
