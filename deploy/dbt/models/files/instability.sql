select series.project_id, project.project_slug, series.version_id, version.version_slug, series.type,
  series.recent_finished as finished, series.recent_succeeded as succeeded, series.recent_finished - series.recent_succeeded as failed,
  series.recent_flips as flips, cast(series.recent_flips as double) / (series.recent_finished - 1) as flip_rate,
  2e0 * series.recent_succeeded * (series.recent_finished - series.recent_succeeded)
    / (series.recent_finished * (series.recent_finished - 1)) as flip_rate_by_chance,
  test.p_value, test.p_value_adjusted, coalesce(test.p_value_adjusted <= 0.05e0, false) as is_flaky, series.reference
from {{ ref('series') }} as series
left join {{ ref('flip_tests') }} as test on test.recent_finished = series.recent_finished
  and test.recent_succeeded = series.recent_succeeded and test.recent_flips = series.recent_flips
left join {{ ref('projects') }} as project on project.project_id = series.project_id
left join {{ ref('versions') }} as version on version.version_id = series.version_id
where series.recent_finished >= 2
