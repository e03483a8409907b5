{%- set is_default = "coalesce(version.is_main and version.project_id = streak.project_id, false)" -%}
select streak.project_id, project.project_slug, streak.version_id, version.version_slug, streak.type,
  {{ is_default }} and streak.type = 'html' as is_main, {{ is_default }} as is_default_version,
  version.is_active, streak.failures, streak.broke_at as failing_since, streak.first_failed_build_id, streak.last_failed_at,
  streak.last_failed_build_id, streak.last_succeeded_at, streak.last_succeeded_build_id, series.last_triggered_at as last_built_at,
  streak.last_error_class as error_class, streak.last_error_fingerprint as error_fingerprint, streak.last_error_line as error_line,
  streak.reference
from {{ ref('streaks') }} as streak
inner join {{ ref('series') }} as series
  on series.project_id = streak.project_id and series.version_id = streak.version_id and series.type = streak.type
  and coalesce(series.reference, '') = coalesce(streak.reference, '')
left join {{ ref('projects') }} as project on project.project_id = streak.project_id
left join {{ ref('versions') }} as version on version.version_id = streak.version_id
where streak.recovered_build_id is null and not coalesce(project.is_deleted, false) and not coalesce(version.is_deleted, false)
