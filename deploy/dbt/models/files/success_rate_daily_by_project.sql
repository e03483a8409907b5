with active as (
  select project_id, min(first_day) as first_day, max(last_day) as last_day
  from {{ ref('series') }}
  group by project_id
), shown as (
  select calendar.day, active.project_id,
    {{ docmirror_reports.known_counts(['builds', 'finished', 'succeeded', 'failed'], 'calendar.day <= as_of.covered_on') }},
    coalesce(calendar.day < as_of.covered_on, false) and coalesce(counted.unsettled, 0) = 0 as is_complete,
    coalesce(calendar.day <= as_of.covered_on, false) as is_covered
  from {{ ref('calendar') }} as calendar
  cross join {{ ref('as_of') }} as as_of
  inner join active on calendar.day >= active.first_day and calendar.day <= greatest(active.last_day, as_of.exported_on)
  left join {{ ref('project_days') }} as counted on counted.project_id = active.project_id and counted.day = calendar.day
  where calendar.day <= as_of.exported_on or counted.day is not null
)
select shown.day, shown.project_id, project.project_slug, builds, finished, succeeded, failed,
  {{ docmirror_reports.rates('succeeded', 'finished') }}, builds - finished as unfinished, is_complete, is_covered
from shown
left join {{ ref('projects') }} as project on project.project_id = shown.project_id
