with this as (select * from report.fact_builds where build_id = :id)
select build_id, outcome, succeeded, triggered_at, error_class
from (
  (select build.* from report.fact_builds as build, this
  where :is_of_series
    and (coalesce(build.triggered_at, '-infinity'), length(build.build_id), build.build_id)
      <= (coalesce(this.triggered_at, '-infinity'), length(this.build_id), this.build_id)
  order by build.triggered_at desc nulls last, length(build.build_id) desc, build.build_id desc
  limit :before + 1)
  union all
  (select build.* from report.fact_builds as build, this
  where :is_of_series
    and (coalesce(build.triggered_at, '-infinity'), length(build.build_id), build.build_id)
      > (coalesce(this.triggered_at, '-infinity'), length(this.build_id), this.build_id)
  order by build.triggered_at nulls first, length(build.build_id), build.build_id
  limit 9)
) as build
order by triggered_at nulls first, length(build_id), build_id
