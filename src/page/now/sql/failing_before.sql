-- How many projects failed at moments of the ninety days before, and how many fail now of what was known at each of these moments. A
-- series whose first build came later is in neither number, or a mirror would find more failures the more it comes to know. And all
-- that fail now. And those that failed a day before, of what existed at the moment: as the list of what fails, they have the unknown project,
-- and on a day of the past what was deleted later.
with built as materialized (
  select total.first_triggered_at as since
  from report.success_rate_by_project as total join report.dim_projects using (project_id)
  where project_id <> '-1' and not is_deleted
), failed as materialized (
  select project_id, series_since, broke_at as since, recovered_at as until,
    coalesce(broke_at <= :now::timestamptz, true) and coalesce(recovered_at > :now::timestamptz, true)
      and not is_deleted as fails_now
  from report.streaks
  where project_id in (select project_id from report.dim_projects where project_id <> '-1' and not is_deleted)
    and (is_open or recovered_at > :now::timestamptz - interval '90 days')
), counted as (
  select (select count(*) from built where coalesce(since <= at, true)) as built,
    (select count(distinct project_id) from failed where coalesce(since <= at, true) and coalesce(until > at, true)) as failing,
    (select count(distinct project_id) from failed where fails_now and coalesce(series_since <= at, true)) as failing_known
  from generate_series(:stepDays::int, 90, :stepDays::int) as days
  cross join lateral (select :now::timestamptz - days * interval '1 day' as at) as moment
  where at > (select min(since) from built)
)
select avg(built) as built, avg(failing) as failing, avg(failing_known) as failing_known, count(*) as moments,
  (select count(*) from built) as built_now, (select count(distinct project_id) from failed where fails_now) as failing_now,
  (
    select count(distinct streak.project_id)
    from report.streaks as streak
    left join report.dim_projects as project on project.project_id = streak.project_id
    left join report.dim_versions as version on version.version_id = streak.version_id
    where coalesce(streak.broke_at <= :now::timestamptz - interval '24 hours', true)
      and (streak.is_open or streak.recovered_at > :now::timestamptz - interval '24 hours')
      and coalesce(project.deleted_at >= :existsUntil::timestamptz, true) and coalesce(version.deleted_at >= :existsUntil::timestamptz, true)
  ) as failing_day_ago
from counted
