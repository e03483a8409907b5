{#- Every day of each project from its first build on, also the days without builds, which success_rate_daily_by_project
    leaves out. Both relations are given, so that it works on sources and on the models over files. A model then needs
    no more than a call, such as:
      select * from ({{ docmirror_reports.every_project_day(
        source('docmirror', 'success_rate_daily_by_project'), source('docmirror', 'success_rate_daily')) }}) as days -#}
{% macro every_project_day(daily_by_project, daily) -%}
  select calendar.day, project.project_id, project.project_slug,
    case when own.day is not null then own.builds when calendar.is_covered then 0 end as builds,
    case when own.day is not null then own.finished when calendar.is_covered then 0 end as finished,
    case when own.day is not null then own.succeeded when calendar.is_covered then 0 end as succeeded,
    case when own.day is not null then own.failed when calendar.is_covered then 0 end as failed,
    own.success_rate, own.success_rate_low, own.success_rate_high, calendar.is_covered
  from (
    select project_id, project_slug, min(day) as first_day
    from {{ daily_by_project }}
    group by project_id, project_slug
  ) as project
  inner join {{ daily }} as calendar on calendar.day >= project.first_day
  left join {{ daily_by_project }} as own on own.project_id = project.project_id and own.day = calendar.day
{%- endmacro %}
