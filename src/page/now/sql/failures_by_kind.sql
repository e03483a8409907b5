select error_class, failures, usual, case when usual_of_all * 28 >= 5 then usual / usual_of_all end as usual_share
from (
  select error_class,
    count(*) filter (where triggered_at > :now::timestamptz - interval '24 hours') as failures,
    count(*) filter (where triggered_at <= :now::timestamptz - interval '24 hours') / 28.0 as usual,
    sum(count(*) filter (where triggered_at <= :now::timestamptz - interval '24 hours')) over () / 28.0 as usual_of_all
  from report.fact_builds
  where failed = 1
    and triggered_on >= (:now::timestamptz - interval '29 days')::date
    and triggered_at > :now::timestamptz - interval '29 days' and triggered_at <= :now::timestamptz
  group by error_class
) as kinds
where failures > 0
order by failures desc, usual desc, error_class
