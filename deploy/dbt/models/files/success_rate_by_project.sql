with total as (
  select project_id, {{ docmirror_reports.sums_of_counts() }},
    count(distinct version_id) filter (where version_id <> '-1') as versions,
    min(first_triggered_at) as first_triggered_at, max(last_triggered_at) as last_triggered_at
  from {{ ref('series') }}
  group by project_id
)
select total.project_id, project.project_slug, builds, finished, succeeded, failed,
  {{ docmirror_reports.rates('succeeded', 'finished') }}, builds - finished - cancelled as unfinished, versions,
  first_triggered_at, last_triggered_at, cancelled
from total
left join {{ ref('projects') }} as project on project.project_id = total.project_id
