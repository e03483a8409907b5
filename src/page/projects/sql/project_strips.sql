-- Builds without a date count as the oldest; they have a query of their own, so that the index gives the newest ones of the others.
select shown.project_id, last.outcomes
from :shown
cross join lateral (
  select array_agg(outcome order by place desc) as outcomes
  from (
    select outcome, row_number() over (order by triggered_at desc nulls last, length(build_id) desc, build_id desc) as place
    from (
      (
        select build_id, outcome, triggered_at from report.fact_builds as build
        where build.project_id = shown.project_id and triggered_on is not null
        order by triggered_on desc, triggered_at desc, length(build_id) desc, build_id desc
        limit :places
      )
      union all (
        select build_id, outcome, triggered_at from report.fact_builds as build
        where build.project_id = shown.project_id and triggered_on is null
        order by length(build_id) desc, build_id desc
        limit :places
      )
    ) as build
  ) as newest
  where place <= :places
) as last
