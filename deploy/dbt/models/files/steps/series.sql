-- Builds that name neither project nor version may belong to several series, so nothing is said about their order.
-- Finished builds have their own partition, so that each row's neighbour there is the finished build before it.
select project_id, version_id, type, reference, {{ docmirror_reports.counts_of_builds() }},
  min(triggered_at) as first_triggered_at, max(triggered_at) as last_triggered_at,
  min(triggered_on) as first_day,
  count(succeeded) filter (where nth_last <= 20 and coalesce(reference, '') <> '(none)') as recent_finished,
  cast(coalesce(sum(succeeded) filter (where nth_last <= 20 and coalesce(reference, '') <> '(none)'), 0) as bigint) as recent_succeeded,
  count(*) filter (where nth_last < 20 and succeeded <> result_before and coalesce(reference, '') <> '(none)') as recent_flips
from (
  select project_id, version_id, type, reference, succeeded, failed, triggered_at, triggered_on,
    row_number() over newest as nth_last, lead(succeeded) over newest as result_before
  from {{ ref('builds') }}
  window newest as (
    partition by project_id, version_id, type, reference, succeeded is null
    order by triggered_at desc nulls last, length(build_id) desc, build_id desc
  )
) as build
group by project_id, version_id, type, reference
