-- The worst failure of each project speaks for it, so that a new break makes no row look younger: its main documentation, then what
-- has worked before, then what has failed for longest.
CREATE OR REPLACE VIEW report.failing_projects AS
SELECT worst.project_id, worst.project_slug, worst.version_id, worst.version_slug, worst.type, worst.is_main, worst.failures,
  worst.failing_since, worst.first_failed_build_id, worst.last_failed_at, worst.last_failed_build_id, worst.last_succeeded_at,
  worst.last_succeeded_build_id, worst.error_class, worst.error_fingerprint, worst.error_line,
  worst.failing, worst.failing_main > 0 AS is_main_failing, worst.main_failing_since, worst.worked > 0 AS worked_before,
  worst.newest_failing_since, worst.oldest_failing_since
FROM (
  SELECT failing.*, (count(*) OVER project)::int AS failing, count(*) FILTER (WHERE is_main) OVER project AS failing_main,
    min(failing_since) FILTER (WHERE is_main) OVER project AS main_failing_since, max(failing_since) OVER project AS newest_failing_since,
    min(failing_since) OVER project AS oldest_failing_since,
    count(last_succeeded_build_id) OVER project AS worked,
    row_number() OVER (
      PARTITION BY project_id
      ORDER BY is_main DESC, last_succeeded_build_id IS NULL, failing_since NULLS LAST, is_default_version DESC,
        version_slug, version_id, type, last_failed_build_id
    ) AS place
  FROM report.failing_now AS failing
  WINDOW project AS (PARTITION BY project_id)
) AS worst
WHERE worst.place = 1;
