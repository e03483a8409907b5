-- The day of the first build that is known, of which the service may list a part only. Days before 2000 are errors.
select min(day) as day from {{ ref('project_days') }} where day >= cast('2000-01-01' as date)
