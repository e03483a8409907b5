/**
 * Marks by the numbers of runs. A run ends after its number was given, perhaps long after: the next run closes what a dead
 * process left open. So the mark stops below the first run that is still open. Numbers may also be committed out of order
 * when a process loses its lock, so the last ones below the mark are looked at once more. The subject prevents a second
 * notice, and the limit of a day prevents one after the first was removed from the outbox.
 */
import type { SQL } from "drizzle-orm";
import { type AnyPgColumn, alias } from "drizzle-orm/pg-core";
import { compose } from "../store/connection/sql.ts";
import { drift, notices, runs, walks } from "../store/schema/index.ts";
import { cut, MOST_NOTED, type NoticeSource } from "./source.ts";

/** A run, as the sources call it in their statements. */
const run = alias(runs, "run");

const BEFORE_OPEN = compose`(select min(${runs.id}) - 1 from ${runs} where ${runs.status} = 'running')`;
const NEWEST = compose`(select max(${runs.id}) from ${runs})`;

const BEGIN_AT_RUNS = compose`
  select jsonb_build_object('from', through, 'through', through)::text as position
  from (select coalesce(${BEFORE_OPEN}, ${NEWEST}, 0) as through) as now`;

/** Whether a `run` may be news since the position. It must have ended. */
const isUnseenRun = (position: string): SQL => compose`
  ${run.status} <> 'running' and ${run.id} > (${position}::text::jsonb ->> 'from')::bigint
  and (
    ${run.id} > (${position}::text::jsonb ->> 'through')::bigint
    or ${run.id} > (${position}::text::jsonb ->> 'through')::bigint - 20
      and ${run.heartbeat_at} > now() - interval '1 day'
  )`;

/** The next position. `last` is the last run of a look that had to stop there, else null. */
const nextRunPosition = (position: string, last: SQL): SQL => compose`
  jsonb_build_object(
    'from', ${position}::text::jsonb -> 'from',
    'through', least(${BEFORE_OPEN}, coalesce(${last}, ${NEWEST}, 0))
  )::text as position`;

const before = alias(runs, "before");
/** Runs that did not end well, with `what` ended and `how`. */
const bad = alias(runs, "bad");

/**
 * Runs that did not end well. A round of the watch is news only where the last one before it ended well: a lasting trouble
 * would be a notice a minute. A round without walk and error had nothing to watch yet, which is no trouble.
 */
export const endedRuns: NoticeSource = {
  name: "runs",
  begin: () => BEGIN_AT_RUNS,
  look: (_, position) => ({
    facts: compose`${bad} as (
      select ${run}.*,
        case ${run.kind} when 'full' then 'The full sync' when 'incremental' then 'The incremental sync'
          when 'watch' then 'A round of the watch' else 'The retry of the quarantine' end as what,
        case ${run.status} when 'failed' then 'failed' when 'partial' then 'was partial'
          else 'was interrupted' end as how
      from ${runs} as ${run}
      where ${isUnseenRun(position)} and ${run.status} <> 'succeeded'
        and not exists (select from ${notices} where ${notices.subject} = 'run/' || ${run.id})
        and (${run.kind} <> 'watch' or ${isWatching(run)} and coalesce((
          select ${before.status} from ${runs} as ${before}
          where ${before.kind} = 'watch' and ${before.id} < ${run.id} and ${before.status} <> 'running'
            and ${isWatching(before)}
          order by ${before.id} desc limit 1
        ), 'succeeded') = 'succeeded')
      order by ${run.id} limit ${MOST_NOTED}
    )`,
    news: compose`
      select 'run/' || ${bad.id}, 'run.ended', jsonb_build_object(
        'summary', format('%s (run %s) %s%s', what, ${bad.id}, how,
          coalesce(': ' || ${cut(compose`coalesce(${bad.error}, walk.reason, ${bad.warnings}[1])`, 300)}, '.')),
        'run_id', ${bad.id}, 'kind', ${bad.kind}, 'status', ${bad.status},
        'started_at', ${bad.started_at}, 'finished_at', ${bad.finished_at},
        'error', ${cut(bad.error, 1000)},
        'warnings', coalesce(
          (select jsonb_agg(${cut(compose`warning`, 300)}) from unnest(${bad.warnings}[1:5]) as warning), '[]'),
        'more_warnings', greatest(cardinality(${bad.warnings}) - 5, 0),
        'lists', walk.lists, 'unfinished', ${bad.unfinished}
      )
      from ${bad} cross join lateral (
        select (array_agg(${walks.reason} order by ${walks.resource}) filter (where ${walks.reason} is not null))[1]
            as reason,
          coalesce(jsonb_agg(jsonb_build_object(
            'resource', ${walks.resource}, 'walk', ${walks.walk}, 'reason', ${cut(walks.reason, 300)},
            'records', ${walks.records}
          ) order by ${walks.resource}), '[]') as lists
        from ${walks} where ${walks.run_id} = ${bad.id}
      ) as walk
      order by ${bad.id}`,
    next: nextRunPosition(
      position,
      compose`(select max(${bad.id}) from ${bad} having count(*) = ${MOST_NOTED})`,
    ),
  }),
};

function isWatching({ id, status, error }: Record<"id" | "status" | "error", AnyPgColumn>): SQL {
  return compose`(${status} <> 'partial' or ${error} is not null
    or exists (select from ${walks} where ${walks.run_id} = ${id}))`;
}

const MOST_LISTED = 20;

/** The differences of one run, with their `place` in it. */
const one = alias(drift, "one");

/**
 * Differences between upstream's records or schemas and what docmirror knows, one notice a run. What the first syncs meet
 * is how upstream is, not a change, so the first look waits until the builds were read whole.
 */
export const schemaChanges: NoticeSource = {
  name: "schema",
  begin: () => compose`
    select position from (${BEGIN_AT_RUNS}) as here
    where exists (
      select from ${walks} join ${runs} on ${runs.id} = ${walks.run_id}
      where ${walks.resource} = 'build' and ${walks.walk} = 'whole' and ${runs.status} <> 'running'
    )`,
  look: (_, position) => ({
    facts: compose`changed as (
      select ${run.id}, drift.differences, drift.observed_at, drift.listed, drift.first
      from ${runs} as ${run}
      cross join lateral (
        select count(*)::int as differences, min(${one.observed_at}) as observed_at,
          (array_agg(
            case ${one.field}
              when '' then format('the resource %s %s: %s', ${cut(one.resource, 60)}, verb, ${cut(one.detail, 60)})
              else format('the field %s of %s %s', ${cut(one.field, 60)}, ${cut(one.resource, 60)}, verb) end
            order by ${one.id}
          ))[1] as first,
          jsonb_agg(
            jsonb_build_object('resource', ${cut(one.resource, 60)}, 'field', ${cut(one.field, 60)},
              'kind', ${one.kind}, 'detail', ${cut(one.detail, 60)})
            order by ${one.id}
          ) filter (where place <= ${MOST_LISTED}) as listed
        from (
          select *, row_number() over (order by ${drift.id}) as place,
            case ${drift.kind} when 'appeared' then 'appeared' when 'vanished' then 'vanished'
              else 'changed its type' end as verb
          from ${drift} where ${drift.run_id} = ${run.id}
            and not (${drift.field} = '' and ${drift.detail} ~ '^(absent|seen):')
        ) as ${one}
      ) as drift
      where ${isUnseenRun(position)} and drift.differences > 0
        and not exists (select from ${notices} where ${notices.subject} = 'schema/' || ${run.id})
      order by ${run.id} limit ${MOST_NOTED}
    )`,
    news: compose`
      select 'schema/' || id, 'schema.changed', jsonb_build_object(
        'summary', case differences when 1 then format('Upstream''s interface changed: %s.', first)
          else format('Upstream''s interface changed in %s ways: %s, and more.', differences, first) end,
        'run_id', id, 'observed_at', observed_at, 'changes', listed,
        'more_changes', greatest(differences - ${MOST_LISTED}, 0)
      )
      from changed order by id`,
    next: nextRunPosition(position, compose`(select max(id) from changed having count(*) = ${MOST_NOTED})`),
  }),
};
