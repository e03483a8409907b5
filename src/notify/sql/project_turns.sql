-- Projects that broke or recovered: turns of their main documentation, the html of the default version, between failure and
-- success. They are those of the Atom feed, which has all series. A turn is news when a run after the mark changed the build
-- that shows it, and no later build of its series was known before: else a late correction of the past would look like the
-- present. The position is the newest run in the answers, so a look without a new refresh finds nothing.
with mark as (
  select run_id, (:position::text::jsonb ->> 'run')::bigint as marked, :now::timestamptz + interval '1 day' as until,
    -- A turn that is older was news before the mark, or will not be missed.
    greatest(:now::timestamptz - interval '7 days', (:position::text::jsonb ->> 'since')::timestamptz - interval '1 day') as since
  from rollup.state
  where case when :position::text is null then covered_through is not null
    else run_id > (:position::text::jsonb ->> 'run')::bigint end
), turn as (
  select 'broke' as kind, streak.*, streak.first_failed_build_id as build_id, streak.broke_at as at
  from rollup.streaks as streak cross join mark
  where streak.broke_at > mark.since and streak.broke_at < mark.until
  union all
  select 'recovered', streak.*, streak.recovered_build_id, streak.recovered_at
  from rollup.streaks as streak cross join mark
  where streak.recovered_at > mark.since and streak.recovered_at < mark.until
), news as (
  -- The turns of a week are few, so each is looked up by itself: a join might read all builds.
  select turn.kind, turn.project_id, left(project.project_slug, 400) as project_slug, turn.version_id,
    left(version.version_slug, 400) as version_slug, turn.type, turn.build_id, build.life, turn.at, turn.failures, turn.broke_at,
    turn.first_failed_build_id, left(turn.error_class, 400) as error_class, left(shown.error_line, 1000) as error_line,
    turn.last_succeeded_build_id, turn.last_succeeded_at
  from turn cross join mark
  cross join lateral (
    select life from mirror.builds where id = turn.build_id and changed_run_id > mark.marked offset 0
  ) as build
  cross join lateral (
    select project_slug, default_version from report.dim_projects
    where project_id = turn.project_id and not is_deleted offset 0
  ) as project
  cross join lateral (
    select version_slug from report.dim_versions
    where version_id = turn.version_id and not is_deleted and rollup.is_main(version_slug, project.default_version) offset 0
  ) as version
  cross join lateral (
    select error_line from rollup.builds where build_id = turn.build_id offset 0
  ) as shown
  where turn.type = 'html'
    and not exists (
      select from sync.notices where subject = format('project/%s/%s/%s', turn.project_id, turn.kind, turn.build_id)
          || case when build.life > 1 then '/' || build.life else '' end)
    and not exists (
      select from rollup.builds as later
      cross join lateral (select changed_run_id from mirror.builds where id = later.build_id offset 0) as known
      where (later.project_id, later.version_id, later.type, later.reference)
          = (turn.project_id, turn.version_id, turn.type, turn.reference)
        and later.succeeded is not null and later.triggered_at >= turn.at and later.build_id <> turn.build_id
        and known.changed_run_id <= mark.marked
    )
  order by turn.at, turn.build_id, turn.kind limit :most
)
select case
    when :position::text is null then jsonb_build_object('run', mark.run_id, 'since', :now::timestamptz)::text
    when (select count(*) from news) < :most then jsonb_set(:position::text::jsonb, '{run}', to_jsonb(mark.run_id))::text
    else :position::text end as position,
  (select coalesce(jsonb_agg(news order by at, build_id, kind), '[]') from news) as news
from mark
