-- One row for each stretch of a series: builds of one month that follow each other with the same result. Builds that have not finished have
-- their own partition, so that each row's neighbour is the finished build before it.
with {{ docmirror_reports.changed_builds() }}
select project_id, version_id, type, reference, succeeded, count(build_id) as builds,
  min(triggered_at) as first_triggered_at, max(triggered_at) as last_triggered_at,
  max(build_id) filter (where is_first) as first_build_id, max(build_id) filter (where is_last) as last_build_id,
  max(finished_after) filter (where is_first) as first_finished_after,
  max(finished_before) filter (where is_first) as first_finished_before,
  max(error_class) filter (where is_first) as first_error_class, max(error_class) filter (where is_last) as last_error_class,
  max(error_fingerprint) filter (where is_last) as last_error_fingerprint,
  max(error_line) filter (where is_last) as last_error_line,
  count(build_id) filter (where outcome = 'cancelled') as cancelled, revision, month
from (
  select *, sum(cast(is_first as int)) over (
    partition by month, project_id, version_id, type, reference, succeeded is null
    order by triggered_at nulls first, length(build_id), build_id rows between unbounded preceding and current row
  ) as nth
  from (
    select *, coalesce(lag(succeeded) over oldest <> succeeded, lag(build_id) over oldest is null) as is_first,
      coalesce(lead(succeeded) over oldest <> succeeded, lead(build_id) over oldest is null) as is_last
    from changed
    window oldest as (
      partition by month, project_id, version_id, type, reference, succeeded is null
      order by triggered_at nulls first, length(build_id), build_id
    )
  ) as build
) as build
group by project_id, version_id, type, reference, succeeded, nth, revision, month
