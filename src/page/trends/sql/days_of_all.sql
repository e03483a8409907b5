select day, builds, finished, succeeded, failed, unfinished, stuck, cancelled, is_complete
from report.success_rate_daily
where day between :start::date and :last::date :others
