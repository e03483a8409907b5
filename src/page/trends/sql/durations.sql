-- By day; the row without a day is about all of them.
select triggered_on as day, count(*) as finished, count(*) filter (where is_known) as known,
  percentile_cont(0.5) within group (order by duration_s_min) filter (where is_known) as took_p50_least,
  percentile_cont(0.5) within group (order by duration_s_max) filter (where is_known) as took_p50_most,
  percentile_cont(0.9) within group (order by duration_s_min) filter (where is_known) as took_p90_least,
  percentile_cont(0.9) within group (order by duration_s_max) filter (where is_known) as took_p90_most
from report.fact_builds
cross join lateral (select duration_s_max - duration_s_min <= :near as is_known) as bounds
where duration_s_min is not null and triggered_on between :late::date and :last::date :of_type
group by grouping sets ((day), ())
order by day nulls first
