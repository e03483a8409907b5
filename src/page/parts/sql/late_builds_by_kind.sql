select error_class, count(*) filter (where failed = 1) as failures, count(succeeded) as finished
from report.fact_builds
where triggered_on = :day and triggered_at > :end::timestamptz
group by error_class
