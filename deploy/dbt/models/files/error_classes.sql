with failure as (
  select build_id, project_id, error_class, error_fingerprint, triggered_at, output_excerpt,
    row_number() over (
      partition by error_class, error_fingerprint
      order by triggered_at desc nulls last, length(build_id) desc, build_id desc
    ) as nth_last
  from {{ ref('builds') }}
  where failed = 1
), error as (
  select error_class, error_fingerprint, count(*) as failures,
    count(distinct project_id) filter (where project_id <> '-1') as projects,
    min(triggered_at) as first_triggered_at, max(triggered_at) as last_triggered_at,
    max(build_id) filter (where nth_last = 1) as last_build_id,
    max(output_excerpt) filter (where nth_last = 1) as example
  from failure
  group by error_class, error_fingerprint
), hit as (
  select count(distinct project_id) filter (where project_id <> '-1') as projects from failure
)
select row_number() over (order by error.projects desc, failures desc, error_fingerprint, error_class) as rank,
  error_class, error_fingerprint, example, failures,
  cast(failures as double) / sum(failures) over () as failure_share, error.projects,
  cast(error.projects as double) / nullif(hit.projects, 0) as project_share,
  first_triggered_at, last_triggered_at, last_build_id
from error
cross join hit
