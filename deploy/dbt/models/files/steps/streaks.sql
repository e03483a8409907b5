-- One row for each streak of failures of a series: failures between the same two successes.
select project_id, version_id, type, reference, cast(sum(builds) as bigint) as failures,
  max(first_build_id) filter (where is_first) as first_failed_build_id,
  max(first_triggered_at) filter (where is_first) as broke_at,
  max(first_finished_after) filter (where is_first) as failed_after,
  max(first_finished_before) filter (where is_first) as failed_before,
  max(first_error_class) filter (where is_first) as error_class,
  max(last_build_id) filter (where is_last) as last_failed_build_id,
  max(last_triggered_at) filter (where is_last) as last_failed_at,
  max(last_error_class) filter (where is_last) as last_error_class,
  max(last_error_fingerprint) filter (where is_last) as last_error_fingerprint,
  max(last_error_line) filter (where is_last) as last_error_line,
  max(succeeded_build_id) filter (where is_first) as last_succeeded_build_id,
  max(succeeded_at) filter (where is_first) as last_succeeded_at,
  max(recovered_build_id) filter (where is_last) as recovered_build_id,
  max(recovered_at) filter (where is_last) as recovered_at,
  max(recovered_after) filter (where is_last) as recovered_after,
  max(recovered_before) filter (where is_last) as recovered_before
from (
  -- What is before the first stretch of a streak and after its last one is a success, or nothing.
  select *, coalesce(lag(succeeded) over oldest, 1) = 1 as is_first, coalesce(lead(succeeded) over oldest, 1) = 1 as is_last,
    lag(last_build_id) over oldest as succeeded_build_id, lag(last_triggered_at) over oldest as succeeded_at,
    lead(first_build_id) over oldest as recovered_build_id, lead(first_triggered_at) over oldest as recovered_at,
    lead(first_finished_after) over oldest as recovered_after, lead(first_finished_before) over oldest as recovered_before,
    sum(succeeded) over (
      partition by project_id, version_id, type, reference
      order by first_triggered_at nulls first, length(first_build_id), first_build_id rows between unbounded preceding and current row
    ) as successes_before
  from {{ ref('stretches') }}
  where succeeded is not null and coalesce(reference, '') <> '(none)'
  window oldest as (
    partition by project_id, version_id, type, reference
    order by first_triggered_at nulls first, length(first_build_id), first_build_id
  )
) as stretch
where succeeded = 0
group by project_id, version_id, type, reference, successes_before
