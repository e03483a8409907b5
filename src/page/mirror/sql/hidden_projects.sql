select count(*) as projects
from report.dim_projects
where not is_listed and not is_deleted and project_id <> '-1'
