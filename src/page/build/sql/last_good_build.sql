with this as (select * from report.fact_builds where build_id = :id)
select build.build_id, build.triggered_at
from report.fact_builds as build, this
where :is_of_series and build.succeeded = 1
  and (coalesce(build.triggered_at, '-infinity'), length(build.build_id), build.build_id)
    < (coalesce(this.triggered_at, '-infinity'), length(this.build_id), this.build_id)
order by build.triggered_at desc nulls last, length(build.build_id) desc, build.build_id desc
limit 1
