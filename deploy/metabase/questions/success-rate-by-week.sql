-- Title: Success rate by week, pooled and by project
-- Answers: Do a few busy projects hide how the others do? The pooled rate counts each build equally, the mean of projects counts each project equally.
-- Shown as: line of success_rate, success_rate_project_mean by week
select week, success_rate, success_rate_project_mean, finished, projects
from report.success_rate_weekly
where is_complete
  [[and week >= {{since}}::date]]
  [[and week <= {{until}}::date]]
order by week
