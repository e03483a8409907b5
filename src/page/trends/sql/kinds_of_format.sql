select triggered_on as day, error_class, count(*) as failures
from report.fact_builds
where failed = 1 and triggered_on between :start::date and :last::date :of_type :early
group by day, error_class
order by day, error_class
