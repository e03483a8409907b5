select day, error_class, sum(failures) as failures
from report.error_fingerprints_daily
where day between :start::date and :last::date
group by day, error_class
order by day, error_class
