select error_class, count(distinct project_id) as projects
from report.fact_builds
where failed = 1 and project_id <> '-1'
  and :isShown
group by error_class
