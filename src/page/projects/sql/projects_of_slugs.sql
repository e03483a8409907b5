select *
from report.project_states
where project_slug in (select json_array_elements_text(:slugs::text::json))
order by project_slug, project_id
