select shown.project_id, days.*
from :shown
cross join lateral (
  select (triggered_at at time zone 'UTC')::date as day, count(*) as builds, count(succeeded) as finished,
    coalesce(sum(succeeded), 0) as succeeded
  from report.fact_builds
  where project_id = shown.project_id and type = 'html' and version_id in (
      select version_id from report.dim_versions
      where project_id = shown.project_id and is_main and not is_deleted
    )
    and triggered_at >= :first::date::timestamp at time zone 'UTC' and triggered_at <= :at::timestamptz
  group by 1
) as days
order by shown.project_id, day
