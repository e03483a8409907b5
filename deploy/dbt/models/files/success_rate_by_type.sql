with by_project as (
  select type, project_id, {{ docmirror_reports.sums_of_counts() }}
  from {{ ref('series') }}
  group by type, project_id
), total as (
  select type, {{ docmirror_reports.sums_of_counts() }}, {{ docmirror_reports.project_mean() }}
  from by_project
  group by type
)
select type, builds, finished, succeeded, failed, {{ docmirror_reports.rates('succeeded', 'finished') }},
  success_rate_project_mean, projects, builds - finished - cancelled as unfinished, cancelled
from total
