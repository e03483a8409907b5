with active as (
  select project_id, min(first_day) as first_day
  from {{ ref('series') }}
  group by project_id
), span as (
  select calendar.day, active.project_id
  from {{ ref('calendar') }} as calendar
  cross join {{ ref('as_of') }} as as_of
  inner join active on calendar.day >= active.first_day and calendar.day <= as_of.exported_on
  -- Days to come are shown only where they have builds. A condition after a left join would say that more shortly,
  -- but DuckDB 2.0.0 then loses the days without builds.
  union
  select day, project_id from {{ ref('project_days') }}
), shown as (
  select span.day, span.project_id,
    {{ docmirror_reports.known_counts(['builds', 'finished', 'succeeded', 'failed', 'stuck'], 'span.day <= as_of.covered_on') }},
    coalesce(span.day < as_of.covered_on, false) and coalesce(counted.unsettled, 0) = 0 as is_complete,
    coalesce(span.day <= as_of.covered_on, false) as is_covered
  from span
  cross join {{ ref('as_of') }} as as_of
  left join {{ ref('project_days') }} as counted on counted.project_id = span.project_id and counted.day = span.day
)
select shown.day, shown.project_id, project.project_slug, builds, finished, succeeded, failed,
  {{ docmirror_reports.rates('succeeded', 'finished') }}, builds - finished as unfinished, is_complete, is_covered, stuck
from shown
left join {{ ref('projects') }} as project on project.project_id = shown.project_id
