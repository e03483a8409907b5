-- Title: Success rate by week, pooled and by project
-- Answers: Do a few busy projects hide how the others do? The pooled rate counts each build equally, the mean of projects counts each project equally.
-- Shown as: line of success_rate, success_rate_project_mean by week
with complete as (
  select week
  from report.success_rate_daily join report.dim_dates using (day)
  group by week having bool_and(is_complete)
)
select week, sum(succeeded)::float8 / nullif(sum(finished), 0) as success_rate,
  avg(succeeded / nullif(finished, 0)) filter (where project_id <> '-1') as success_rate_project_mean,
  sum(finished) as finished, count(*) filter (where project_id <> '-1') as projects
from (
  select week, project_id, sum(succeeded)::float8 as succeeded, sum(finished)::float8 as finished
  from report.success_rate_daily_by_project join report.dim_dates using (day)
  group by week, project_id
) as of_project
join complete using (week)
where true
  [[and week >= {{since}}::date]]
  [[and week <= {{until}}::date]]
group by week
order by week
