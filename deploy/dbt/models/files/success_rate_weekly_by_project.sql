select week, iso_week, counted.project_id, project.project_slug, builds, finished, succeeded, failed,
  {{ docmirror_reports.rates('succeeded', 'finished') }}, builds - finished as unfinished,
  coalesce(week + 7 <= as_of.covered_on, false) and unsettled = 0 as is_complete,
  coalesce(week <= as_of.covered_on, false) as is_covered, stuck
from {{ ref('project_weeks') }} as counted
cross join {{ ref('as_of') }} as as_of
left join {{ ref('projects') }} as project on project.project_id = counted.project_id
