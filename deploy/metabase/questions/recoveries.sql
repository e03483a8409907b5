-- Title: Broken and repaired
-- Answers: How long did it take until builds succeeded again? One row for each streak of failures. An open streak has no upper bound yet.
-- Shown as: table
select project_slug, project_id, version_slug, type, failures, failed_at, recovered_at, recovery_s_min, recovery_s_max, is_open, error_class
from report.recoveries
where true
  [[and failed_at >= {{since}}::date]]
  [[and failed_at < {{until}}::date + 1]]
  [[and {{project}} in (project_slug, project_id)]]
order by failed_at desc, first_failed_build_id
limit 2000
