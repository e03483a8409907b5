with project as materialized (
  select *, :is_found as is_found from report.project_states:of_mine
)
select *
from (
  select count(*) as all_any, count(*) filter (where is_found) as found_any,
    count(*) filter (where state = 'main_failing') as all_main, count(*) filter (where state = 'main_failing' and is_found) as found_main,
    count(*) filter (where state = 'failing') as all_part, count(*) filter (where state = 'failing' and is_found) as found_part,
    count(*) filter (where state = 'good') as all_good, count(*) filter (where state = 'good' and is_found) as found_good,
    count(*) filter (where state = 'unknown') as all_unknown, count(*) filter (where state = 'unknown' and is_found) as found_unknown,
    count(*) filter (where stuck > 0) as all_stuck, count(*) filter (where stuck > 0 and is_found) as found_stuck
  from project
) as counts
left join lateral (
:page
) as listed on true
