-- One row for each streak of failures of a series: failures between the same two successes.
select streak.*, failed.triggered_at as failed_at, failed.finished_after as failed_after,
  failed.finished_before as failed_before, failed.error_class, succeeded.triggered_at as last_succeeded_at,
  recovered.triggered_at as recovered_at, recovered.finished_after as recovered_after,
  recovered.finished_before as recovered_before
from (
  select project_id, version_id, type, reference, count(*) as failures,
    max(build_id) filter (where coalesce(result_before, 1) = 1) as first_failed_build_id,
    max(build_id) filter (where coalesce(result_after, 1) = 1) as last_failed_build_id,
    max(build_before) filter (where result_before = 1) as last_succeeded_build_id,
    max(build_after) filter (where result_after = 1) as recovered_build_id
  from (
    select project_id, version_id, type, reference, build_id, failed,
      lag(succeeded) over oldest as result_before, lag(build_id) over oldest as build_before,
      lead(succeeded) over oldest as result_after, lead(build_id) over oldest as build_after,
      sum(succeeded) over (
        partition by project_id, version_id, type, reference order by triggered_at nulls first, length(build_id), build_id
        rows between unbounded preceding and current row
      ) as successes_before
    from {{ ref('builds') }}
    where succeeded is not null and coalesce(reference, '') <> '(none)'
    window oldest as (
      partition by project_id, version_id, type, reference order by triggered_at nulls first, length(build_id), build_id
    )
  ) as build
  where failed = 1
  group by project_id, version_id, type, reference, successes_before
) as streak
inner join {{ ref('builds') }} as failed on failed.build_id = streak.first_failed_build_id
left join {{ ref('builds') }} as succeeded on succeeded.build_id = streak.last_succeeded_build_id
left join {{ ref('builds') }} as recovered on recovered.build_id = streak.recovered_build_id
