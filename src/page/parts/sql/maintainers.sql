select project_id, maintainers
from report_people.project_maintainers
where project_id = any (:ids)
