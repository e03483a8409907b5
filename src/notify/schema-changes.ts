import { BEGIN_AT_RUNS, IS_UNSEEN_RUN, NEXT_RUN_POSITION } from "./settled-runs.ts";
import { cut, MOST_NOTED, type NoticeSource } from "./source.ts";

/** How many differences a notice lists. */
const MOST_LISTED = 20;

/**
 * Differences between upstream's records or schemas and what docmirror knows, one notice a run. What the first syncs meet
 * is how upstream is, not a change, so the first look waits until the builds were read whole.
 */
export const schemaChanges: NoticeSource = {
  name: "schema",
  begin: `
    select position from (${BEGIN_AT_RUNS}) as here
    where exists (
      select from sync.walks join sync.runs on runs.id = walks.run_id
      where resource = 'build' and walk = 'whole' and status <> 'running'
    )`,
  look: `
    with changed as (
      select run.id, drift.differences, drift.observed_at, drift.listed, drift.first
      from sync.runs as run
      cross join lateral (
        select count(*)::int as differences, min(observed_at) as observed_at,
          (array_agg(
            format('the field %s of %s %s', ${cut("field", 60)}, ${cut("resource", 60)},
              case kind when 'appeared' then 'appeared' when 'vanished' then 'vanished' else 'changed its type' end)
            order by id
          ))[1] as first,
          jsonb_agg(
            jsonb_build_object('resource', ${cut("resource", 60)}, 'field', ${cut("field", 60)}, 'kind', kind, 'detail', ${cut("detail", 60)})
            order by id
          ) filter (where place <= ${MOST_LISTED}) as listed
        from (select *, row_number() over (order by id) as place from sync.drift where run_id = run.id) as drift
      ) as drift
      where ${IS_UNSEEN_RUN} and drift.differences > 0
        and not exists (select from sync.notices where subject = 'schema/' || run.id)
      order by run.id limit ${MOST_NOTED}
    ), noted as (
      insert into sync.notices (subject, type, data)
      select 'schema/' || id, 'schema.changed', jsonb_build_object(
        'summary', case differences when 1 then format('Upstream''s interface changed: %s.', first)
          else format('Upstream''s interface changed in %s ways: %s, and more.', differences, first) end,
        'run_id', id, 'observed_at', observed_at, 'changes', listed, 'more_changes', greatest(differences - ${MOST_LISTED}, 0)
      )
      from changed order by id
      on conflict (subject) do nothing
      returning 1
    )
    select (select count(*) from noted)::int as noted,
      ${NEXT_RUN_POSITION(`(select max(id) from changed having count(*) = ${MOST_NOTED})`)} as position`,
  values: () => [],
};
