select error_class, count(*) as projects,
  count(*) filter (where is_main_failing) as main,
  count(*) filter (where worked_before) as worked,
  count(*) filter (where newest_failing_since > :now::timestamptz - interval '24 hours') as lately
from :failing:isMine
group by error_class
order by projects desc, error_class
