select build_id, outcome, triggered_at, count(*) over () as total, count(*) filter (where outcome = 'stuck') over () as stuck
from report.open_builds
where project_id = :id
order by triggered_at desc nulls last, build_id desc
limit 1
