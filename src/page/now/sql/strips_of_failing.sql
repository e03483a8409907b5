select shown.project_id, last.outcomes
from :shown
cross join lateral (
  select array_agg(outcome order by place desc) as outcomes
  from (
    select outcome,
      row_number() over (order by triggered_at desc nulls last, length(build_id) desc, build_id desc) as place
    from report.fact_builds as build
    where build.project_id = shown.project_id and build.version_id = shown.version_id and build.type = shown.type:isThen
    order by triggered_at desc nulls last, length(build_id) desc, build_id desc
    limit :most
  ) as newest
) as last
