-- The newest break of each project speaks for it, its main documentation first where two are equally new.
CREATE OR REPLACE VIEW report.failing_projects AS
SELECT newest.project_id, newest.project_slug, newest.version_id, newest.version_slug, newest.type, newest.is_main, newest.failures,
  newest.failing_since, newest.first_failed_build_id, newest.last_failed_at, newest.last_failed_build_id, newest.last_succeeded_at,
  newest.last_succeeded_build_id, newest.error_class, newest.error_fingerprint, newest.error_line,
  newest.failing, newest.failing_main > 0 AS is_main_failing, newest.main_failing_since, newest.worked > 0 AS worked_before
FROM (
  SELECT failing.*, (count(*) OVER project)::int AS failing, count(*) FILTER (WHERE is_main) OVER project AS failing_main,
    max(failing_since) FILTER (WHERE is_main) OVER project AS main_failing_since,
    count(last_succeeded_build_id) OVER project AS worked,
    row_number() OVER (
      PARTITION BY project_id
      ORDER BY failing_since DESC NULLS LAST, is_main DESC, is_default_version DESC, version_slug, version_id, type, last_failed_build_id
    ) AS place
  FROM report.failing_now AS failing
  WINDOW project AS (PARTITION BY project_id)
) AS newest
WHERE newest.place = 1;
