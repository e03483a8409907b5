select outcome, finished_before is not null and outcome <> 'cancelled' and (duration_s_max - duration_s_min <= :near) is not true as is_untimed
from report.fact_builds
where project_id = :id
order by :newest
limit :recent
