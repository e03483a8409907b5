select error_line_id, triggered_on as day, count(*) as failures
from report.fact_builds
where failed = 1 and triggered_on between :start::date and :last::date
  and :isKind
  and :isLine
group by error_line_id, triggered_on
