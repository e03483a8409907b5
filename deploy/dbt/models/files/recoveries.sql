select streak.project_id, project.project_slug, streak.version_id, version.version_slug, streak.type, streak.failures,
  streak.first_failed_build_id, streak.broke_at, streak.failed_after, streak.failed_before, streak.recovered_build_id,
  streak.recovered_at, streak.recovered_after, streak.recovered_before,
  {{ docmirror_reports.seconds_between('streak.broke_at', 'streak.recovered_at') }} / 3600 as hours_to_recover,
  -- The success may have finished before the failure that it follows.
  greatest(0e0, coalesce(case when streak.recovered_build_id is null
    then {{ docmirror_reports.seconds_between('streak.failed_before', 'as_of.covered_through') }}
    else {{ docmirror_reports.seconds_between('streak.failed_before', 'streak.recovered_after') }} end, 0e0)) as recovery_s_min,
  case when streak.failed_after is not null and streak.recovered_before is not null
    then greatest(0e0, {{ docmirror_reports.seconds_between('streak.failed_after', 'streak.recovered_before') }}) end as recovery_s_max,
  streak.recovered_build_id is null as is_open,
  streak.recovered_build_id is not null and coalesce(streak.recovered_after < streak.failed_before, true) as is_overlapped,
  streak.error_class, streak.last_succeeded_build_id is not null as worked_before, streak.reference
from {{ ref('streaks') }} as streak
cross join {{ ref('as_of') }} as as_of
left join {{ ref('projects') }} as project on project.project_id = streak.project_id
left join {{ ref('versions') }} as version on version.version_id = streak.version_id
-- A deletion ended the others.
where streak.recovered_build_id is not null or not coalesce(project.is_deleted, false) and not coalesce(version.is_deleted, false)
