import { cut, inWords, MOST_NOTED, type NoticeSource } from "./source.ts";

/** A slug may be empty. */
const NAME = `coalesce(nullif(${cut("project_slug", 100)}, ''), 'project ' || project_id)`;

/**
 * Projects that broke or recovered: turns of their main documentation, the html of the default version, between failure and
 * success. They are those of the Atom feed, which has all series. A turn is news when a run after the mark changed the
 * build that shows it, and no later build of its series was known before: else a late correction of the past would look
 * like the present. The mark is the newest run in the answers, so a look without a new refresh finds nothing.
 */
export const projectTurns: NoticeSource = {
  name: "projects",
  begin: `
    select jsonb_build_object('run', run_id, 'since', $1::timestamptz)::text as position
    from rollup.state where covered_through is not null`,
  look: `
    with mark as (
      select run_id, ($2::text::jsonb ->> 'run')::bigint as marked, $1::timestamptz + interval '1 day' as until,
        -- A turn that is older was news before the mark, or will not be missed.
        greatest($1::timestamptz - interval '7 days', ($2::text::jsonb ->> 'since')::timestamptz - interval '1 day') as since
      from rollup.state where run_id > ($2::text::jsonb ->> 'run')::bigint
    ), turn as (
      select 'broke' as kind, streak.*, first_failed_build_id as build_id, failed_at as at
      from rollup.streaks as streak cross join mark where failed_at > mark.since and failed_at < mark.until
      union all
      select 'recovered', streak.*, recovered_build_id, recovered_at
      from rollup.streaks as streak cross join mark where recovered_at > mark.since and recovered_at < mark.until
    ), news as (
      -- The turns of a week are few, so each is looked up by itself: a join might read all builds.
      select turn.*, project.project_slug, version.version_slug, shown.output_excerpt
      from turn cross join mark
      cross join lateral (
        select from mirror.builds where id = turn.build_id and changed_run_id > mark.marked offset 0
      ) as build
      cross join lateral (
        select project_slug, default_version from report.dim_projects
        where project_id = turn.project_id and not is_deleted offset 0
      ) as project
      cross join lateral (
        select version_slug from report.dim_versions
        where version_id = turn.version_id and not is_deleted
          and version_slug = coalesce(nullif(project.default_version, ''), 'latest') offset 0
      ) as version
      cross join lateral (select output_excerpt from rollup.builds where build_id = turn.build_id offset 0) as shown
      where turn.type = 'html'
        and not exists (select from sync.notices where subject = format('project/%s/%s/%s', turn.project_id, turn.kind, turn.build_id))
        and not exists (
          select from rollup.builds as later
          cross join lateral (select changed_run_id from mirror.builds where id = later.build_id offset 0) as known
          where (later.project_id, later.version_id, later.type, later.reference)
              = (turn.project_id, turn.version_id, turn.type, turn.reference)
            and later.succeeded is not null and later.triggered_at >= turn.at and later.build_id <> turn.build_id
            and known.changed_run_id <= mark.marked
        )
      order by turn.at, turn.build_id, turn.kind limit ${MOST_NOTED}
    ), noted as (
      insert into sync.notices (subject, type, data)
      select format('project/%s/%s/%s', project_id, kind, build_id), 'project.' || kind, jsonb_strip_nulls(jsonb_build_object(
        'summary', case kind
          when 'broke' then format('%s broke: %s of %s failed%s', ${NAME}, type, ${cut("version_slug", 100)},
            coalesce(': ' || ${cut("output_excerpt", 300)}, '.'))
          else format('%s is fixed: %s of %s succeeded after %s, first at %s.', ${NAME}, type, ${cut("version_slug", 100)},
            case failures when 1 then 'one failure' else failures || ' failures' end, coalesce(${inWords("failed_at")}, 'an unknown time')) end,
        'project_id', project_id, 'project_slug', ${cut("project_slug", 200)}, 'version_id', version_id,
        'version_slug', ${cut("version_slug", 200)}, 'type', type, 'build_id', build_id, 'triggered_at', at,
        'failures', failures, 'failing_since', failed_at, 'first_failed_build_id', first_failed_build_id,
        'error_class', case kind when 'broke' then ${cut("error_class", 200)} end,
        'error_line', case kind when 'broke' then ${cut("output_excerpt", 500)} end,
        'last_succeeded_build_id', case kind when 'broke' then last_succeeded_build_id end,
        'last_succeeded_at', case kind when 'broke' then last_succeeded_at end
      ))
      from news order by at, build_id, kind
      on conflict (subject) do nothing
      returning 1
    )
    select (select count(*) from noted)::int as noted,
      case when (select count(*) from news) < ${MOST_NOTED} then jsonb_set($2::text::jsonb, '{run}', to_jsonb(mark.run_id))::text else $2::text end as position
    from mark`,
  values: ({ now }) => [now],
};
