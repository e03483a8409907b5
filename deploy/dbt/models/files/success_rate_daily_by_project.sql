select counted.day, counted.project_id, project.project_slug, builds, finished, succeeded, failed,
  {{ docmirror_reports.rates('succeeded', 'finished') }}, builds - finished as unfinished,
  coalesce(counted.day < as_of.covered_on, false) and unsettled = 0 and coalesce(counted.day > first_day.day, false) as is_complete,
  coalesce(counted.day <= as_of.covered_on, false) as is_covered, stuck
from {{ ref('project_days') }} as counted
cross join {{ ref('as_of') }} as as_of
cross join {{ ref('first_day') }} as first_day
left join {{ ref('projects') }} as project on project.project_id = counted.project_id
where counted.day is not null
