select shown.place, last.outcomes
from json_to_recordset(:series::text::json) as shown (place int, version_id text, type text, reference text)
cross join lateral (
  select array_agg(outcome order by place desc) as outcomes
  from (
    select outcome, row_number() over (order by :newest) as place
    from report.fact_builds as build
    where build.project_id = :id and build.version_id = shown.version_id and build.type = shown.type
      and build.reference is not distinct from shown.reference
    order by :newest
    limit 20
  ) as newest
) as last
