select count(building_s_min) as finished, count(*) filter (where is_known) as known,
  percentile_cont(0.5) within group (order by queued_s_min) filter (where is_known) as queued_p50_least,
  percentile_cont(0.5) within group (order by queued_s_max) filter (where is_known) as queued_p50_most,
  percentile_cont(0.9) within group (order by queued_s_min) filter (where is_known) as queued_p90_least,
  percentile_cont(0.9) within group (order by queued_s_max) filter (where is_known) as queued_p90_most,
  percentile_cont(0.5) within group (order by building_s_min) filter (where is_known) as building_p50_least,
  percentile_cont(0.5) within group (order by building_s_max) filter (where is_known) as building_p50_most,
  percentile_cont(0.9) within group (order by building_s_min) filter (where is_known) as building_p90_least,
  percentile_cont(0.9) within group (order by building_s_max) filter (where is_known) as building_p90_most
from report.fact_builds
cross join lateral (
  select queued_s_max - queued_s_min <= :near and building_s_max - building_s_min <= :near as is_known
) as bounds
where triggered_on between :late::date and :last::date :of_type
