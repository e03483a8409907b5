select week.project_id, project.project_slug, week, iso_week, builds, finished, succeeded, failed,
  {{ docmirror_reports.rates('succeeded', 'finished') }}, active_days, failure_days
from {{ ref('project_weeks') }} as week
left join {{ ref('projects') }} as project on project.project_id = week.project_id
