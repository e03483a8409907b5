import { alias } from "drizzle-orm/pg-core";
import { rollupBuilds, streaks } from "../report/stored/answers.ts";
import { compose } from "../store/connection/sql.ts";
import { builds, dimProjects, dimVersions, notices, state } from "../store/schema/index.ts";
import { cut, inWords, MOST_NOTED, type NoticeSource } from "./source.ts";

const streak = alias(streaks, "streak");
/** A streak that broke or recovered, with the `kind` of the turn, the build that shows it, and when it was, `at`. */
const turn = alias(streaks, "turn");
const later = alias(rollupBuilds, "later");

/** A slug may be empty. */
const NAME = compose`coalesce(nullif(${cut(compose`project_slug`, 100)}, ''), 'project ' || project_id)`;
const VERSION = cut(compose`version_slug`, 100);

/**
 * Projects that broke or recovered: turns of their main documentation, the html of the default version, between failure and
 * success. They are those of the Atom feed, which has all series. A turn is news when a run after the mark changed the
 * build that shows it, and no later build of its series was known before: else a late correction of the past would look
 * like the present. The mark is the newest run in the answers, so a look without a new refresh finds nothing.
 */
export const projectTurns: NoticeSource = {
  name: "projects",
  begin: ({ now }) => compose`
    select jsonb_build_object('run', ${state.run_id}, 'since', ${now}::timestamptz)::text as position
    from ${state} where ${state.covered_through} is not null`,
  look: ({ now }, position) => ({
    facts: compose`mark as (
      select ${state.run_id}, (${position}::text::jsonb ->> 'run')::bigint as marked, ${now}::timestamptz + interval '1 day' as until,
        -- A turn that is older was news before the mark, or will not be missed.
        greatest(${now}::timestamptz - interval '7 days', (${position}::text::jsonb ->> 'since')::timestamptz - interval '1 day') as since
      from ${state} where ${state.run_id} > (${position}::text::jsonb ->> 'run')::bigint
    ), turn as (
      select 'broke' as kind, ${streak}.*, ${streak.first_failed_build_id} as build_id, ${streak.broke_at} as at
      from ${streaks} as ${streak} cross join mark
      where ${streak.broke_at} > mark.since and ${streak.broke_at} < mark.until
      union all
      select 'recovered', ${streak}.*, ${streak.recovered_build_id}, ${streak.recovered_at}
      from ${streaks} as ${streak} cross join mark
      where ${streak.recovered_at} > mark.since and ${streak.recovered_at} < mark.until
    ), news as (
      -- The turns of a week are few, so each is looked up by itself: a join might read all builds.
      select turn.*, project.project_slug, version.version_slug, shown.error_line
      from turn cross join mark
      cross join lateral (
        select from ${builds} where ${builds.id} = turn.build_id and ${builds.changed_run_id} > mark.marked offset 0
      ) as build
      cross join lateral (
        select ${dimProjects.project_slug}, ${dimProjects.default_version} from ${dimProjects}
        where ${dimProjects.project_id} = ${turn.project_id} and not ${dimProjects.is_deleted} offset 0
      ) as project
      cross join lateral (
        select ${dimVersions.version_slug} from ${dimVersions}
        where ${dimVersions.version_id} = ${turn.version_id} and not ${dimVersions.is_deleted}
          and rollup.is_main(${dimVersions.version_slug}, project.default_version) offset 0
      ) as version
      cross join lateral (
        select ${rollupBuilds.error_line} from ${rollupBuilds} where ${rollupBuilds.build_id} = turn.build_id offset 0
      ) as shown
      where ${turn.type} = 'html'
        and not exists (
          select from ${notices}
          where ${notices.subject} = format('project/%s/%s/%s', ${turn.project_id}, turn.kind, turn.build_id))
        and not exists (
          select from ${rollupBuilds} as ${later}
          cross join lateral (
            select ${builds.changed_run_id} from ${builds} where ${builds.id} = ${later.build_id} offset 0
          ) as known
          where (${later.project_id}, ${later.version_id}, ${later.type}, ${later.reference})
              = (${turn.project_id}, ${turn.version_id}, ${turn.type}, ${turn.reference})
            and ${later.succeeded} is not null and ${later.triggered_at} >= turn.at and ${later.build_id} <> turn.build_id
            and known.changed_run_id <= mark.marked
        )
      order by turn.at, turn.build_id, turn.kind limit ${MOST_NOTED}
    )`,
    news: compose`
      select format('project/%s/%s/%s', project_id, kind, build_id), 'project.' || kind, jsonb_strip_nulls(jsonb_build_object(
        'summary', case kind
          when 'broke' then format('%s broke: %s of %s failed%s', ${NAME}, type, ${VERSION},
            coalesce(': ' || ${cut(compose`error_line`, 300)}, '.'))
          else format('%s is fixed: %s of %s succeeded after %s, first at %s.', ${NAME}, type, ${VERSION},
            case failures when 1 then 'one failure' else failures || ' failures' end, coalesce(${inWords(compose`broke_at`)}, 'an unknown time')) end,
        'project_id', project_id, 'project_slug', ${cut(compose`project_slug`, 200)}, 'version_id', version_id,
        'version_slug', ${cut(compose`version_slug`, 200)}, 'type', type, 'build_id', build_id, 'triggered_at', at,
        'failures', failures, 'failing_since', broke_at, 'first_failed_build_id', first_failed_build_id,
        'error_class', case kind when 'broke' then ${cut(compose`error_class`, 200)} end,
        'error_line', case kind when 'broke' then ${cut(compose`error_line`, 500)} end,
        'last_succeeded_build_id', case kind when 'broke' then last_succeeded_build_id end,
        'last_succeeded_at', case kind when 'broke' then last_succeeded_at end
      ))
      from news order by at, build_id, kind`,
    next: compose`case when (select count(*) from news) < ${MOST_NOTED}
        then jsonb_set(${position}::text::jsonb, '{run}', to_jsonb(mark.run_id))::text else ${position}::text end as position
    from mark`,
  }),
};
