with total as (
  select project_id, version_id, {{ docmirror_reports.sums_of_counts() }},
    min(first_triggered_at) as first_triggered_at, max(last_triggered_at) as last_triggered_at
  from {{ ref('series') }}
  group by project_id, version_id
)
select total.project_id, project.project_slug, total.version_id, version.version_slug, builds, finished, succeeded,
  failed, {{ docmirror_reports.rates('succeeded', 'finished') }}, builds - finished as unfinished,
  first_triggered_at, last_triggered_at
from total
left join {{ ref('projects') }} as project on project.project_id = total.project_id
left join {{ ref('versions') }} as version on version.version_id = total.version_id
