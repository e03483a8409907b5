select day
from report.success_rate_daily
where day between :first::date and :last::date and is_covered
