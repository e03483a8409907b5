select day, finished, succeeded, success_rate
from report.success_rate_daily
where day >= :today::date - 90 and day < :today::date
order by day
