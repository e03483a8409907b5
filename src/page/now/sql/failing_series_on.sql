
  select fails.*, streak.is_main, streak.worked_before as worked, broke.error_line
  from report.failing_on(:day::date) as fails
  join report.streaks as streak using (first_failed_build_id)
  left join report.fact_builds as broke on broke.build_id = fails.first_failed_build_id
