-- A row where the calendar may get other days: its days from the first build to the end of next year have no gap, so only builds at
-- its first day, or outside of it, change it.
select from affected
where day is not null and (day between
  (select min(day) + 1 from report.dim_dates where day >= '2000-01-01')
  and make_date(extract(year from now() at time zone 'UTC')::int + 1, 12, 31)) is not true
limit 1
