{{ docmirror_reports.alike_failures('error_class') }}
select rank, key as error_class, example, failures, failure_share, projects, project_share,
  first_triggered_at, last_triggered_at, last_build_id,
  failures_last_7_days, failures_7_days_before, projects_last_7_days, projects_7_days_before
from alike
