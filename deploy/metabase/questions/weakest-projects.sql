-- Title: The weakest projects
-- Answers: Which projects certainly fail often? Sorted by the upper end of the interval, so that a project with one failed build does not rank first.
-- Shown as: table
select project_slug, project_id, finished, succeeded, failed, success_rate, success_rate_low, success_rate_high, last_triggered_at
from report.success_rate_by_project
where finished > 0
  [[and finished >= {{at_least}}::int]]
order by success_rate_high, finished desc, project_slug, project_id
limit 100
