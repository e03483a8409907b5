(
  select distinct on (project_id) fails.*, count(*) over project as failing, bool_or(is_main) over project as is_main_failing,
    bool_or(worked) over project as worked_before, max(failing_since) over project as newest_failing_since
  from (:series) as fails
  window project as (partition by project_id)
  order by project_id, is_main desc, worked desc, failing_since nulls last, version_slug, version_id, type, first_failed_build_id
) as failing_projects
