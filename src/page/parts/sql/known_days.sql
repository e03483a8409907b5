select day
from report.success_rate_daily
where :isShown and is_covered
