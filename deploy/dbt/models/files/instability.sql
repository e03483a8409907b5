select series.project_id, project.project_slug, series.version_id, version.version_slug, series.type,
  recent_finished as finished, recent_succeeded as succeeded, recent_finished - recent_succeeded as failed,
  recent_flips as flips, cast(recent_flips as double) / (recent_finished - 1) as flip_rate,
  2 * (cast(recent_succeeded as double) / recent_finished) * (1 - cast(recent_succeeded as double) / recent_finished) as flip_rate_by_chance
from {{ ref('series') }} as series
left join {{ ref('projects') }} as project on project.project_id = series.project_id
left join {{ ref('versions') }} as version on version.version_id = series.version_id
where recent_finished >= 2
