import { alias } from "drizzle-orm/pg-core";
import { compose } from "../store/connection/run-statement.ts";
import { drift, notices, runs, walks } from "../store/schema/index.ts";
import { BEGIN_AT_RUNS, isUnseenRun, nextRunPosition, run } from "./settled-runs.ts";
import { cut, insertNotices, MOST_NOTED, type NoticeSource } from "./source.ts";

/** How many differences a notice lists. */
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
  look: (_, position) => compose`
    with changed as (
      select ${run.id}, drift.differences, drift.observed_at, drift.listed, drift.first
      from ${runs} as ${run}
      cross join lateral (
        select count(*)::int as differences, min(${one.observed_at}) as observed_at,
          (array_agg(
            format('the field %s of %s %s', ${cut(one.field, 60)}, ${cut(one.resource, 60)},
              case ${one.kind} when 'appeared' then 'appeared' when 'vanished' then 'vanished'
                else 'changed its type' end)
            order by ${one.id}
          ))[1] as first,
          jsonb_agg(
            jsonb_build_object('resource', ${cut(one.resource, 60)}, 'field', ${cut(one.field, 60)},
              'kind', ${one.kind}, 'detail', ${cut(one.detail, 60)})
            order by ${one.id}
          ) filter (where place <= ${MOST_LISTED}) as listed
        from (
          select *, row_number() over (order by ${drift.id}) as place from ${drift} where ${drift.run_id} = ${run.id}
        ) as ${one}
      ) as drift
      where ${isUnseenRun(position)} and drift.differences > 0
        and not exists (select from ${notices} where ${notices.subject} = 'schema/' || ${run.id})
      order by ${run.id} limit ${MOST_NOTED}
    ), noted as (
      ${insertNotices}
      select 'schema/' || id, 'schema.changed', jsonb_build_object(
        'summary', case differences when 1 then format('Upstream''s interface changed: %s.', first)
          else format('Upstream''s interface changed in %s ways: %s, and more.', differences, first) end,
        'run_id', id, 'observed_at', observed_at, 'changes', listed,
        'more_changes', greatest(differences - ${MOST_LISTED}, 0)
      )
      from changed order by id
      on conflict (subject) do nothing
      returning 1
    )
    select (select count(*) from noted)::int as noted,
      ${nextRunPosition(position, compose`(select max(id) from changed having count(*) = ${MOST_NOTED})`)} as position`,
};
