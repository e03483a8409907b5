select known.error_fingerprint, null as error_line_id, known.failures, null::bigint as failures_before,
    known.projects, null::bigint as projects_before
  from report.error_fingerprints as known
  union all
  select error_fingerprint, error_line_id, failures, null, projects, null
  from report.error_lines:chosen
