select error_class, error_line_id, count(*) as failures, max(triggered_at) as last_triggered_at,
  (array_agg(build_id order by :newest))[1] as last_build_id,
  (array_agg(error_line order by :newest))[1] as example, count(distinct error_line) as places,
  sum(count(*)) over (partition by error_class) as class_failures
  , count(*) over (partition by error_class) as class_lines, sum(count(*)) over () as all_failures -- on the page
from report.fact_builds
where project_id = :id and failed = 1
group by error_class, error_line_id
order by class_failures desc, error_class, failures desc, last_triggered_at desc nulls last, error_line_id
limit 200 -- on the page
