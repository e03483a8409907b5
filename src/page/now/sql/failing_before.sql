with built as materialized (
  select total.first_triggered_at as since
  from report.success_rate_by_project as total join report.dim_projects using (project_id)
  where project_id <> '-1' and not is_deleted
), failed as materialized (
  select project_id, broke_at as since, recovered_at as until
  from report.streaks
  where project_id in (select project_id from report.dim_projects where project_id <> '-1' and not is_deleted)
    and (is_open or recovered_at > :now::timestamptz - interval '90 days')
), counted as (
  select days, (select count(*) from built where coalesce(since <= at, true)) as built,
    (select count(distinct project_id) from failed where coalesce(since <= at, true) and coalesce(until > at, true)) as failing
  from generate_series(0, 90, :stepDays) as days
  cross join lateral (select :now::timestamptz - days * interval '1 day' as at) as moment
  where at > (select min(since) from built)
)
select avg(built) filter (where days > 0) as built, avg(failing) filter (where days > 0) as failing,
  count(*) filter (where days > 0) as moments, max(built) filter (where days = 0) as built_now,
  max(failing) filter (where days = 0) as failing_now
from counted
