select floor(extract(epoch from :now::timestamptz - broke_at) / 86400)::int as days_before,
  count(distinct project_id) as broke,
  count(distinct project_id) filter (where worked_before) as had_worked,
  count(distinct project_id) filter (where is_open or recovered_at > :now::timestamptz) as still_failing
from report.streaks
where broke_at > :now::timestamptz - interval '29 days' and broke_at <= :now::timestamptz
group by days_before
order by days_before
