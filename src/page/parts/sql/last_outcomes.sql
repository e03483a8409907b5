cross join lateral (
  select array_agg(outcome order by place desc) as outcomes
  from (
    select outcome, row_number() over (order by :newest) as place
    from report.fact_builds as build
    where :isOf
    order by :newest
    limit :most
  ) as newest
) as last
