-- The end of a series, from the last success before the first change on: no streak goes over a success. Without one the part is all of
-- the series.
select series.project_id, series.version_id, series.type, series.reference,
  success.triggered_at as since, success.build_id as success_id
from (
  select project_id, version_id, type, reference, min(coalesce(triggered_at, '-infinity')) as first_at
  from affected where project_id is not null group by project_id, version_id, type, reference
) as series
left join lateral (
  select triggered_at, build_id from rollup.builds as build
  where build.project_id = series.project_id and build.version_id = series.version_id and build.type = series.type
    and build.reference = series.reference and succeeded = 1 and triggered_at < first_at
  order by triggered_at desc nulls last, length(build_id) desc, build_id desc limit 1
) as success on true
