select day, counted.project_id, project.project_slug, builds, finished, succeeded, failed,
  {{ docmirror_reports.rates('succeeded', 'finished') }}, builds - finished - cancelled as unfinished,
  coalesce(day < as_of.covered_on, false) and unsettled = 0 as is_complete,
  coalesce(day <= as_of.covered_on, false) as is_covered, stuck, cancelled
from {{ ref('project_days') }} as counted
cross join {{ ref('as_of') }} as as_of
left join {{ ref('projects') }} as project on project.project_id = counted.project_id
where day is not null
