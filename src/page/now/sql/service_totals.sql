-- The unknown project counts where it fails, as it does among those that fail.
select (select count(*) from report.dim_projects where not is_deleted and project_id <> '-1')
    + (select count(*) from report.failing_projects where project_id = '-1') as projects,
  (select sum(finished) from report.success_rate_by_type) as finished,
  (select min(day) from report.dim_dates) as first_day
