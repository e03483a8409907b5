select project_id, array_to_string(maintainers, ', ') as maintainers
from report_people.project_maintainers
where project_id = any (:ids)
