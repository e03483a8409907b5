{{ docmirror_reports.alike_failures('error_fingerprint') }}
select rank, last_error_class as error_class, key as error_fingerprint, example, failures, failure_share, projects, project_share,
  first_triggered_at, last_triggered_at, last_build_id,
  failures_last_7_days, failures_7_days_before, projects_last_7_days, projects_7_days_before
from alike
