-- The last finished build of the main documentation.
select build_id, outcome, triggered_at
from report.fact_builds
where project_id = :id and version_slug = :main and type = 'html' and succeeded is not null
  and version_id in (select version_id from report.dim_versions where not is_deleted)
order by :newest
limit 1
