-- Projects that broke or recovered: turns of their main documentation, the html of the default version, between failure and
-- success. They are those of the Atom feed, which has all series. A turn is news when a run after the mark changed the build
-- that shows it, and no later build of its series was known before: else a late correction of the past would look like the
-- present. The position is the newest run in the answers, so a look without a new refresh finds nothing.
--
-- A break that was noted may also end without such a turn: the service took its result back, or what failed is deleted, or is not the main
-- documentation any more. So each break whose end was not noted is looked at, whatever its age.
with mark as (
  select run_id, (:position::text::jsonb ->> 'run')::bigint as marked, :now::timestamptz + interval '1 day' as until,
    -- A turn that is older was news before the mark, or will not be missed.
    greatest(:now::timestamptz - interval '7 days', (:position::text::jsonb ->> 'since')::timestamptz - interval '1 day') as since
  from rollup.state
  where case when :position::text is null then covered_through is not null
    else run_id > (:position::text::jsonb ->> 'run')::bigint end
), noted as (
  -- The last notice of each series.
  select distinct on (project_id, version_id) type = 'project.broke' as is_break, project_id, version_id, data
  from sync.notices
  cross join lateral (select data ->> 'project_id' as project_id, data ->> 'version_id' as version_id) as named
  where type in ('project.broke', 'project.recovered')
  order by project_id, version_id, id desc
), turn as (
  select 'broke' as kind, streak.*, streak.first_failed_build_id as build_id, streak.broke_at as at
  from rollup.streaks as streak cross join mark
  where streak.broke_at > mark.since and streak.broke_at < mark.until
  union all
  select 'recovered', streak.*, streak.recovered_build_id, streak.recovered_at
  from rollup.streaks as streak cross join mark
  where streak.recovered_at > mark.since and streak.recovered_at < mark.until
  union all
  -- A failure after those that were taken back, in the streak that they began.
  select 'broke', streak.*, streak.last_failed_build_id, last.triggered_at
  from noted
  join rollup.streaks as streak on (streak.project_id, streak.version_id, streak.type) = (noted.project_id, noted.version_id, 'html')
  join rollup.builds as last on last.build_id = streak.last_failed_build_id and last.deleted_at is null
  where noted.data ->> 'ended' = 'withdrawn' and streak.recovered_build_id is null
    and streak.last_failed_build_id <> streak.first_failed_build_id
), news as (
  -- The turns of a week are few, so each is looked up by itself: a join might read all builds.
  select turn.kind, turn.project_id, left(project.project_slug, 400) as project_slug, turn.version_id,
    left(version.version_slug, 400) as version_slug, turn.type, turn.build_id, build.life, turn.at, turn.failures, turn.broke_at,
    turn.first_failed_build_id, left(turn.error_class, 400) as error_class, left(shown.error_line, 1000) as error_line,
    turn.last_succeeded_build_id, turn.last_succeeded_at, case turn.kind when 'recovered' then 'succeeded' end as ended,
    case when known.subject is not null then mark.run_id end as again
  from turn cross join mark
  cross join lateral (
    select life from mirror.builds where id = turn.build_id and changed_run_id > mark.marked offset 0
  ) as build
  cross join lateral (
    select project_slug from report.dim_projects
    where project_id = turn.project_id and not is_deleted offset 0
  ) as project
  cross join lateral (
    select version_slug from report.dim_versions
    where version_id = turn.version_id and project_id = turn.project_id and not is_deleted and is_main offset 0
  ) as version
  cross join lateral (
    select error_line from rollup.builds where build_id = turn.build_id offset 0
  ) as shown
  left join sync.notices as known on known.subject = format('project/%s/%s/%s', turn.project_id, turn.kind, turn.build_id)
    || case when build.life > 1 then '/' || build.life else '' end
  left join noted on (noted.project_id, noted.version_id) = (turn.project_id, turn.version_id)
  where turn.type = 'html'
    -- The same build may break it again, and end it again, after the service took its result back.
    and (known.subject is null or case turn.kind
      when 'broke' then not noted.is_break and turn.recovered_build_id is null and noted.data ->> 'first_failed_build_id' = turn.build_id
      else noted.is_break and noted.data ->> 'build_id' = turn.first_failed_build_id end)
    and not exists (
      select from rollup.builds as later
      cross join lateral (select changed_run_id from mirror.builds where id = later.build_id offset 0) as known
      where (later.project_id, later.version_id, later.type, later.reference)
          = (turn.project_id, turn.version_id, turn.type, turn.reference)
        and later.succeeded is not null and later.triggered_at >= turn.at and later.build_id <> turn.build_id
        and known.changed_run_id <= mark.marked
    )
  order by turn.at, turn.build_id, turn.kind limit :most
), ended as (
  select 'recovered' as kind, noted.project_id, noted.data ->> 'project_slug' as project_slug, noted.version_id,
    noted.data ->> 'version_slug' as version_slug, 'html' as type, why.build_id, build.life, why.at, null::int as failures,
    (noted.data ->> 'failing_since')::timestamptz as broke_at, noted.data ->> 'first_failed_build_id' as first_failed_build_id,
    null::text as error_class, null::text as error_line, null::text as last_succeeded_build_id, null::timestamptz as last_succeeded_at,
    why.ended, case when known.subject is not null then mark.run_id end as again
  from noted cross join mark
  left join report.dim_projects as project on project.project_id = noted.project_id
  left join report.dim_versions as version on version.version_id = noted.version_id and version.project_id = noted.project_id
  left join rollup.builds as broken on broken.build_id = noted.data ->> 'build_id'
  left join lateral (
    select last.deleted_at is null as stays from rollup.streaks as streak
    join rollup.builds as last on last.build_id = streak.last_failed_build_id
    where (streak.project_id, streak.version_id, streak.type) = (noted.project_id, noted.version_id, 'html')
      and streak.recovered_build_id is null
    limit 1
  ) as open on true
  left join lateral (
    select build_id, triggered_at from rollup.builds as build
    where (build.project_id, build.version_id, build.type) = (noted.project_id, noted.version_id, 'html')
      and succeeded = 1 and triggered_at >= (noted.data ->> 'triggered_at')::timestamptz
    order by triggered_at desc, length(build_id) desc, build_id desc limit 1
  ) as success on true
  cross join lateral (
    select case
      when coalesce(project.is_deleted or version.is_deleted, true) then 'deleted'
      when not version.is_main then 'not_main'
      when success.build_id is not null and open.stays is null then 'succeeded'
      else 'withdrawn'
    end as ended
  ) as reason
  cross join lateral (
    select ended, case ended when 'succeeded' then success.build_id else noted.data ->> 'build_id' end as build_id,
      case ended when 'succeeded' then success.triggered_at else (noted.data ->> 'triggered_at')::timestamptz end as at
  ) as why
  cross join lateral (
    select coalesce(max(life), 1) as life from mirror.builds where id = why.build_id
  ) as build
  left join sync.notices as known on known.subject = format('project/%s/recovered/%s', noted.project_id, why.build_id)
    || case when build.life > 1 then '/' || build.life else '' end
  where noted.is_break
    -- A build that is built again may fail again, which is no end.
    and broken.outcome is distinct from 'open'
    and (open.stays is not true or why.ended in ('deleted', 'not_main') or exists (
      select from news where kind = 'broke' and (news.project_id, news.version_id) = (noted.project_id, noted.version_id)))
    and not exists (
      select from news where kind = 'recovered' and (news.project_id, news.version_id) = (noted.project_id, noted.version_id))
    and not exists (select from sync.muted_projects where project_slug = noted.data ->> 'project_slug' and until > now())
  order by noted.project_id, noted.version_id limit :most
), told as (
  select 1 as place, ended.* from ended
  union all
  select 2, news.* from news
)
select case
    when :position::text is null then jsonb_build_object('run', mark.run_id, 'since', :now::timestamptz)::text
    when (select count(*) from news) < :most then jsonb_set(:position::text::jsonb, '{run}', to_jsonb(mark.run_id))::text
    else :position::text end as position,
  (select coalesce(jsonb_agg(to_jsonb(told) - 'place' order by place, at, build_id, kind), '[]') from told) as news
from mark
