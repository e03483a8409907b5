import { askFor, type Question } from "../../report/question.ts";
import { statement } from "../parts/questions/statement.ts";

/** The newest runs that are put into groups: more than a watch makes in a day. */
const MOST_RUNS = 2000;
/** Groups in the list of runs. */
export const MOST_GROUPS = 12;
/** Rows of each short list. */
export const MOST_ROWS = 8;

/** What the page of the mirror asks, about the 24 hours and 7 days up to `now`. */
export function mirrorQuestions(now: Date) {
  const held = (hold: (value: string) => string) => `${hold(now.toISOString())}::timestamptz`;
  return {
    lists: askFor("freshness"),
    // Rounds of the watch that followed each other are one row.
    runs: statement(
      "runs",
      () => `select kind, count(*) as runs, min(run_id) as first_run_id, max(run_id) as last_run_id,
  min(started_at) as started_at, max(coalesce(finished_at, started_at)) as ended_at,
  (array_agg(status order by run_id desc))[1] as status, (array_agg(error order by run_id desc))[1] as error,
  count(*) filter (where status not in ('succeeded', 'running')) as troubled,
  sum(requests) as requests, sum(inserted) as inserted, sum(updated) as updated, sum(deleted) as deleted,
  sum(transitions) as transitions
from (
  select *, sum(begins) over (order by run_id) as spell
  from (
    select *, (kind <> 'watch' or lag(kind) over (order by run_id) is distinct from 'watch'
      or started_at - lag(started_at) over (order by run_id) > interval '5 minutes')::int as begins
    from (select * from report.runs order by run_id desc limit ${MOST_RUNS}) as newest
  ) as run
) as run
group by kind, spell
order by last_run_id desc`,
    ),
    counts: statement(
      "walks",
      (
        hold,
      ) => `select (select count(*) from report.walks where walk is not null and started_at > ${held(hold)} - interval '7 days') as walks,
  (select count(*) from report.runs) as runs,
  (select count(*) from report.walks where walk is not null and not is_good
    and started_at > ${held(hold)} - interval '7 days') as not_good`,
    ),
    walks: statement(
      "walks",
      (hold) => `select run_id, resource, walk, reason, started_at
from report.walks
where walk is not null and not is_good and started_at > ${held(hold)} - interval '7 days'
order by run_id desc, resource
limit ${MOST_ROWS}`,
    ),
    references: askFor("broken_references"),
    quarantine: askFor("quarantine"),
    changes: askFor("schema_changes", { limit: 50 }),
  } satisfies Record<string, Question>;
}
