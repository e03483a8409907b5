select error_class, count(distinct project_id) as projects
from report.fact_builds
where failed = 1 and project_id <> '-1'
  and triggered_on between :first::date and :last::date
group by error_class
