select distinct project_id
from report_people.project_users join report_people.users using (user_id)
where lower(username) = lower(:username) and not is_deleted
