select error_fingerprint, error_line_id,
    count(*) filter (where triggered_on >= :first::date) as failures, :failuresBefore as failures_before,
    count(distinct project_id) filter (where triggered_on >= :first::date and project_id <> '-1') as projects, :projectsBefore as projects_before
  from report.fact_builds
  where failed = 1
    and triggered_on between :start::date and :last::date:chosen
  group by grouping sets ((error_fingerprint), (error_fingerprint, error_line_id))
