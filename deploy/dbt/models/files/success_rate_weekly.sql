with counted as (
  select week, iso_week, {{ docmirror_reports.sums_of_counts() }}, cast(sum(unsettled) as bigint) as unsettled,
    cast(sum(stuck) as bigint) as stuck,
    {{ docmirror_reports.project_mean() }}
  from {{ ref('project_weeks') }}
  group by week, iso_week
), span as (
  select calendar.week, calendar.iso_week
  from {{ ref('calendar') }} as calendar
  inner join {{ ref('as_of') }} as as_of on calendar.week <= as_of.exported_on
  -- As in success_rate_daily.
  union
  select week, iso_week from counted
), shown as (
  select span.week, span.iso_week,
    {{ docmirror_reports.known_counts(['builds', 'finished', 'succeeded', 'failed', 'projects', 'stuck'], 'span.week <= as_of.covered_on') }},
    counted.success_rate_project_mean,
    coalesce(span.week + 7 <= as_of.covered_on, false) and coalesce(counted.unsettled, 0) = 0 as is_complete,
    coalesce(span.week <= as_of.covered_on, false) as is_covered
  from span
  cross join {{ ref('as_of') }} as as_of
  left join counted on counted.week = span.week
)
select week, iso_week, builds, finished, succeeded, failed, {{ docmirror_reports.rates('succeeded', 'finished') }},
  success_rate_project_mean, projects, builds - finished as unfinished, is_complete, is_covered, stuck
from shown
