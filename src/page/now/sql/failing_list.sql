select *
from :failing:chosen
order by newest_failing_since desc nulls last, project_slug, project_id
limit :perPage offset :from -- on the page
