CREATE OR REPLACE VIEW report.recoveries AS
SELECT project_id, project_slug, version_id, version_slug, type, failures, first_failed_build_id, broke_at, failed_after,
  failed_before, recovered_build_id, recovered_at, recovered_after, recovered_before, hours_to_recover, recovery_s_min,
  recovery_s_max, is_open, is_overlapped, error_class, worked_before, reference, is_main
FROM report.streaks
WHERE NOT (is_open AND is_deleted);
