with counted as (
  select day, {{ docmirror_reports.sums_of_counts() }}, cast(sum(unsettled) as bigint) as unsettled,
    cast(sum(stuck) as bigint) as stuck,
    {{ docmirror_reports.project_mean() }}
  from {{ ref('project_days') }}
  where day is not null
  group by day
), span as (
  select calendar.day
  from {{ ref('calendar') }} as calendar
  inner join {{ ref('as_of') }} as as_of on calendar.day <= as_of.exported_on
  -- Days to come are shown only where they have builds. A condition after a left join would say that more shortly,
  -- but DuckDB 2.0.0 then loses the days without builds.
  union
  select day from counted
), shown as (
  select span.day,
    {{ docmirror_reports.known_counts(['builds', 'finished', 'succeeded', 'failed', 'projects', 'stuck', 'cancelled'], 'span.day <= as_of.covered_on') }},
    counted.success_rate_project_mean,
    coalesce(span.day < as_of.covered_on, false) and coalesce(counted.unsettled, 0) = 0
      and coalesce(span.day > first_day.day, false) as is_complete,
    coalesce(span.day <= as_of.covered_on, false) as is_covered
  from span
  cross join {{ ref('as_of') }} as as_of
  cross join {{ ref('first_day') }} as first_day
  left join counted on counted.day = span.day
)
select day, builds, finished, succeeded, failed, {{ docmirror_reports.rates('succeeded', 'finished') }},
  success_rate_project_mean, projects, builds - finished - cancelled as unfinished, is_complete, is_covered, stuck, cancelled
from shown
