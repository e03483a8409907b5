select project_id, triggered_on as day, {{ docmirror_reports.counts_of_builds() }},
  count(*) filter (where not is_settled) as unsettled, count(*) filter (where outcome = 'stuck') as stuck
from {{ ref('builds') }}
where triggered_on is not null
group by project_id, triggered_on
