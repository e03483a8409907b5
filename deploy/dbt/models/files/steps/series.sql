-- Builds that name no version may belong to several series, so nothing is said about their order.
select project_id, version_id, type, reference, cast(sum(builds) as bigint) as builds,
  cast(coalesce(sum(builds) filter (where succeeded is not null), 0) as bigint) as finished,
  cast(coalesce(sum(builds) filter (where succeeded = 1), 0) as bigint) as succeeded,
  cast(coalesce(sum(builds) filter (where succeeded = 0), 0) as bigint) as failed,
  cast(sum(cancelled) as bigint) as cancelled,
  min(first_triggered_at) as first_triggered_at, max(last_triggered_at) as last_triggered_at,
  -- Of the last 20 finished builds, those of each stretch. A result differs from the one before where a stretch begins.
  cast(coalesce(sum(least(builds, 20 - newer)) filter (where newer < 20), 0) as bigint) as recent_finished,
  cast(coalesce(sum(least(builds, 20 - newer)) filter (where newer < 20 and succeeded = 1), 0) as bigint) as recent_succeeded,
  count(*) filter (where newer + builds < 20 and succeeded <> result_before) as recent_flips
from (
  select *, lag(succeeded) over oldest as result_before, case when succeeded is not null and coalesce(reference, '') <> '(none)' then
    sum(builds) over (
      partition by project_id, version_id, type, reference, succeeded is null
      order by first_triggered_at nulls first, length(first_build_id), first_build_id
      rows between current row and unbounded following
    ) - builds end as newer
  from {{ ref('stretches') }}
  where project_id is not null
  window oldest as (
    partition by project_id, version_id, type, reference, succeeded is null
    order by first_triggered_at nulls first, length(first_build_id), first_build_id
  )
) as stretch
group by project_id, version_id, type, reference
