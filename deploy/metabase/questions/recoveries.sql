-- Title: Broken and mended
-- Answers: How long did it take to mend what broke? One row a streak of failures; one that is open has no end yet, so no upper bound.
-- Shown as: table
select project_slug, version_slug, type, failures, failed_at, recovered_at, recovery_s_min, recovery_s_max, is_open, error_class
from report.recoveries
where true
  [[and failed_at >= {{since}}::date]]
  [[and failed_at < {{until}}::date + 1]]
  [[and project_slug = {{project}}]]
order by failed_at desc, first_failed_build_id
limit 2000
