-- Title: Failing now
-- Answers: What fails at the moment, since when, and why? One row for each project, version and type whose last finished build failed.
-- Shown as: table
select project_slug, project_id, version_slug, type, failures, failing_since, last_succeeded_at, error_class, error_line, last_failed_build_id
from report.failing_now
where true
  [[and {{project}} in (project_slug, project_id)]]
  [[and type = {{type}}]]
order by failures desc, failing_since, project_slug, project_id, version_slug, type
limit 2000
