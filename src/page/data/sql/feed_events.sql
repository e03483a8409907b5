with streak as not materialized (
  select streak.* from report.streaks as streak
  where :isAsked and not exists (select from report.dim_projects as gone where gone.project_id = streak.project_id and gone.is_deleted)
), taken_back as (
  -- Builds that had ended with a failure, by an earlier run, and have none any more.
  select record_id as build_id, max(observed_at) as at
  from mirror.changes as change
  where resource = 'build' and observed_at > :last::timestamptz - interval '15 days' and observed_at < :last::timestamptz
    and before ->> 'success' = 'false' and after ->> 'success' is distinct from 'false'
    and exists (
      select from mirror.build_transitions as seen join sync.build_states as known on known.state = sync.state_word(seen.to_state)
      where seen.build_id = change.record_id and known.is_final and seen.run_id < change.run_id
    )
  group by record_id
)
select event.*, failed.error_line
from (
  (select 'broke' as kind, first_failed_build_id as build_id, broke_at as at, project_slug, version_slug, type, failures, broke_at
   from streak
   where broke_at < :last::timestamptz
   order by broke_at desc limit :most)
  union all
  (select 'fixed', recovered_build_id, recovered_at, project_slug, version_slug, type, failures, broke_at
   from streak
   where recovered_at < :last::timestamptz
   order by recovered_at desc limit :most)
  union all
  (select 'deleted', first_failed_build_id, version.deleted_at, streak.project_slug, streak.version_slug, type, failures, broke_at
   from streak join report.dim_versions as version using (version_id)
   where is_open and version.deleted_at < :last::timestamptz
   order by version.deleted_at desc limit :most)
  union all
  -- A build that broke its series: the one before it had not failed. What is built again may fail again.
  (select 'withdrawn', streak.build_id, taken_back.at, streak.project_slug, streak.version_slug, streak.type, null, streak.triggered_at
   from taken_back join report.fact_builds as streak using (build_id)
   left join lateral (
     select earlier.failed
     from report.fact_builds as earlier
     where (earlier.project_id, earlier.version_id, earlier.type) = (streak.project_id, streak.version_id, streak.type)
       and earlier.reference is not distinct from streak.reference
       and earlier.succeeded is not null and earlier.triggered_at < streak.triggered_at
     order by earlier.triggered_at desc limit 1
   ) as before on true
   where streak.is_settled and streak.outcome not in ('failed', 'stuck') and before.failed is distinct from 1
     and :isAsked and not exists (select from report.dim_projects as gone where gone.project_id = streak.project_id and gone.is_deleted)
   order by taken_back.at desc limit :most)
) as event
left join report.fact_builds as failed on failed.build_id = event.build_id and event.kind = 'broke'
order by event.at desc, length(event.build_id) desc, event.build_id desc, event.kind
limit :most
