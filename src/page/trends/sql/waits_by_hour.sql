select extract(hour from triggered_at at time zone 'UTC')::int as hour, count(*) as finished, count(*) filter (where is_known) as known,
  percentile_cont(0.5) within group (order by queued_s_min) filter (where is_known) as queued_p50_least,
  percentile_cont(0.5) within group (order by queued_s_max) filter (where is_known) as queued_p50_most,
  percentile_cont(0.9) within group (order by queued_s_min) filter (where is_known) as queued_p90_least,
  percentile_cont(0.9) within group (order by queued_s_max) filter (where is_known) as queued_p90_most
from report.fact_builds
cross join lateral (select queued_s_max - queued_s_min <= :near as is_known) as bounds
where building_s_min is not null and triggered_on between :late::date and :last::date :of_type
group by hour
order by hour
