select error_class, count(distinct project_id) as projects
from report.failing_now
where project_id <> '-1'
group by error_class
