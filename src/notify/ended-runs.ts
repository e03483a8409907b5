import type { SQL } from "drizzle-orm";
import { type AnyPgColumn, alias } from "drizzle-orm/pg-core";
import { compose } from "../store/connection/run-statement.ts";
import { notices, runs, walks } from "../store/schema/index.ts";
import { BEGIN_AT_RUNS, isUnseenRun, nextRunPosition, run } from "./settled-runs.ts";
import { cut, insertNotices, MOST_NOTED, type NoticeSource } from "./source.ts";

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
  look: (_, position) => compose`
    with ${bad} as (
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
    ), noted as (
      ${insertNotices}
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
      order by ${bad.id}
      on conflict (subject) do nothing
      returning 1
    )
    select (select count(*) from noted)::int as noted,
      ${nextRunPosition(position, compose`(select max(${bad.id}) from ${bad} having count(*) = ${MOST_NOTED})`)} as position`,
};

function isWatching({ id, status, error }: Record<"id" | "status" | "error", AnyPgColumn>): SQL {
  return compose`(${status} <> 'partial' or ${error} is not null
    or exists (select from ${walks} where ${walks.run_id} = ${id}))`;
}
