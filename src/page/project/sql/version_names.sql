select distinct version_slug
from report.dim_versions
where project_id = :id
order by version_slug
limit 2000
