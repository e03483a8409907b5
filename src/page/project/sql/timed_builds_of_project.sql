select build_id, outcome, duration_s_min, duration_s_max
from report.fact_builds
where project_id = :id and duration_s_max - duration_s_min <= :near
order by :newest
limit 6 -- on the page
