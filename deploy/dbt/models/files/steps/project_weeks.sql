select project_id, week, iso_week, {{ docmirror_reports.sums_of_counts() }}, count(*) as active_days,
  count(*) filter (where failed > 0) as failure_days, cast(sum(unsettled) as bigint) as unsettled,
  cast(sum(stuck) as bigint) as stuck
from {{ ref('project_days') }}
inner join {{ ref('calendar') }} using (day)
group by project_id, week, iso_week
