select build_id, outcome, duration_s_min, duration_s_max
from report.fact_builds
where duration_s_max - duration_s_min <= :near and triggered_on between :late::date and :last::date :of_type
order by triggered_at desc, build_id
limit 12
