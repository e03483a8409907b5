select builds, finished, succeeded, first_triggered_at, weeks.*
from report.success_rate_by_project as total
cross join (
  select count(*) filter (where triggered_at > :at::timestamptz - interval '7 days') as week,
    count(*) filter (where triggered_at <= :at::timestamptz - interval '7 days') as week_before
  from report.fact_builds
  where project_id = :id and triggered_on >= :today::date - 15 and triggered_at > :at::timestamptz - interval '14 days'
) as weeks
where total.project_id = :id
