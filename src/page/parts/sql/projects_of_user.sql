select project_id, coalesce(bool_or(project.is_deleted), true) as is_gone
from report_people.project_users
join report_people.users as person using (user_id)
left join report.dim_projects as project using (project_id)
where lower(username) = lower(:username) and not person.is_deleted
group by project_id
