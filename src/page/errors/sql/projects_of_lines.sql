select error_line_id, project_slug, version_slug, type, failures, build_id, triggered_at
from (
  select error_line_id, project_slug, version_slug, type, build_id, triggered_at,
    count(*) over project as failures, row_number() over newest as place_in_project,
    dense_rank() over line as place
  from (
    select *, max(triggered_at) over (partition by error_line_id, project_id) as project_at
    from (
      select error_line_id, project_id, project_slug, version_slug, type, build_id, triggered_at
      from report.fact_builds
      where failed = 1 and triggered_on between :first::date and :last::date and project_id <> '-1'
        and :isLine
    ) as failure
  ) as dated
  window project as (partition by error_line_id, project_id),
    newest as (partition by error_line_id, project_id order by triggered_at desc, build_id desc),
    line as (partition by error_line_id order by project_at desc, project_id)
) as placed
where place_in_project = 1 and place <= :most
order by error_line_id, place
