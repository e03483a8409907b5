with counted as (
  select week, {{ docmirror_reports.sums_of_counts() }}, cast(sum(unsettled) as bigint) as unsettled,
    {{ docmirror_reports.project_mean() }}
  from {{ ref('project_weeks') }}
  group by week
), shown as (
  select calendar.week, calendar.iso_week,
    {{ docmirror_reports.known_counts(['builds', 'finished', 'succeeded', 'failed', 'projects'], 'calendar.week <= as_of.covered_on') }},
    counted.success_rate_project_mean,
    coalesce(calendar.week + 7 <= as_of.covered_on, false) and coalesce(counted.unsettled, 0) = 0 as is_complete,
    coalesce(calendar.week <= as_of.covered_on, false) as is_covered
  from (select distinct week, iso_week from {{ ref('calendar') }}) as calendar
  cross join {{ ref('as_of') }} as as_of
  left join counted on counted.week = calendar.week
  where calendar.week <= as_of.exported_on or counted.week is not null
)
select week, iso_week, builds, finished, succeeded, failed, {{ docmirror_reports.rates('succeeded', 'finished') }},
  success_rate_project_mean, projects, builds - finished as unfinished, is_complete, is_covered
from shown
