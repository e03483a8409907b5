select build_id, version_slug, type, outcome, triggered_at, error_class
from report.fact_builds
where project_id = :id :only
order by :newest
limit :most offset :before -- on the page
