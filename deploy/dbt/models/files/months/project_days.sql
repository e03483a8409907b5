with {{ docmirror_reports.changed_builds() }}
select project_id, triggered_on as day, {{ docmirror_reports.counts_of_builds() }},
  count(*) filter (where not is_settled) as unsettled, count(*) filter (where outcome = 'stuck') as stuck, revision, month
from changed
group by project_id, triggered_on, revision, month
