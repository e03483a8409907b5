import { BEGIN_AT_RUNS, IS_UNSEEN_RUN, NEXT_RUN_POSITION } from "./settled-runs.ts";
import { cut, MOST_NOTED, type NoticeSource } from "./source.ts";

/**
 * Runs that did not end well. A round of the watch is news only where the last one before it ended well: a lasting trouble
 * would be a notice a minute. A round without walk and error had nothing to watch yet, which is no trouble.
 */
export const endedRuns: NoticeSource = {
  name: "runs",
  begin: BEGIN_AT_RUNS,
  look: `
    with bad as (
      select run.*,
        case run.kind when 'full' then 'The full sync' when 'incremental' then 'The incremental sync'
          when 'watch' then 'A round of the watch' else 'The retry of the quarantine' end as what,
        case run.status when 'failed' then 'failed' when 'partial' then 'was partial' else 'was interrupted' end as how
      from sync.runs as run
      where ${IS_UNSEEN_RUN} and run.status <> 'succeeded'
        and not exists (select from sync.notices where subject = 'run/' || run.id)
        and (run.kind <> 'watch' or ${isWatching("run")} and coalesce((
          select before.status from sync.runs as before
          where before.kind = 'watch' and before.id < run.id and before.status <> 'running' and ${isWatching("before")}
          order by before.id desc limit 1
        ), 'succeeded') = 'succeeded')
      order by run.id limit ${MOST_NOTED}
    ), noted as (
      insert into sync.notices (subject, type, data)
      select 'run/' || bad.id, 'run.ended', jsonb_build_object(
        'summary', format('%s (run %s) %s%s', what, bad.id, how,
          coalesce(': ' || ${cut("coalesce(bad.error, walk.reason, bad.warnings[1])", 300)}, '.')),
        'run_id', bad.id, 'kind', kind, 'status', status, 'started_at', bad.started_at, 'finished_at', bad.finished_at,
        'error', ${cut("bad.error", 1000)},
        'warnings', coalesce((select jsonb_agg(${cut("warning", 300)}) from unnest(warnings[1:5]) as warning), '[]'),
        'more_warnings', greatest(cardinality(warnings) - 5, 0),
        'lists', walk.lists, 'unfinished', unfinished
      )
      from bad cross join lateral (
        select (array_agg(reason order by resource) filter (where reason is not null))[1] as reason,
          coalesce(jsonb_agg(jsonb_build_object(
            'resource', resource, 'walk', walk, 'reason', ${cut("reason", 300)}, 'records', records
          ) order by resource), '[]') as lists
        from sync.walks where run_id = bad.id
      ) as walk
      order by bad.id
      on conflict (subject) do nothing
      returning 1
    )
    select (select count(*) from noted)::int as noted,
      ${NEXT_RUN_POSITION(`(select max(id) from bad having count(*) = ${MOST_NOTED})`)} as position`,
  values: () => [],
};

function isWatching(run: string): string {
  return `(${run}.status <> 'partial' or ${run}.error is not null or exists (select from sync.walks where run_id = ${run}.id))`;
}
