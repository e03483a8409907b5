select day, broke, fixed
from report.broke_daily
where day between :start::date and :last::date :others
