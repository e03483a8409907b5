-- Title: Broken and repaired
-- Answers: How long did it take until builds succeeded again? One row for each streak of failures. An open streak has no time yet, so do not average the times.
-- Shown as: table
select project_slug, project_id, version_slug, type, failures, broke_at, recovered_at, hours_to_recover, is_open, error_class
from report.recoveries
where true
  [[and broke_at >= {{since}}::date]]
  [[and broke_at < {{until}}::date + 1]]
  [[and {{project}} in (project_slug, project_id)]]
order by broke_at desc, first_failed_build_id
limit 2000
