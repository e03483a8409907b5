import { type SQL, sql } from "drizzle-orm";
import { ask, askFor, onPage } from "../../report/ask.ts";
import type { Question } from "../../report/question.ts";
import { inline, pick, relation } from "../../report/relation.ts";
import type { BlockQuestions } from "../parts/offers.ts";

const run = relation("runs");
const walk = relation("walks", "walk");
/** The run of a walk. */
const by = relation("runs", "by");

/** The newest runs that are put into groups: more than a watch makes in a day. */
const MOST_RUNS = 2000;
/** Groups in the list of runs. */
export const MOST_GROUPS = 12;
/** Rows of each short list. */
export const MOST_ROWS = 8;

/** Runs; rounds of the watch that followed each other are one row. */
const RUNS: SQL = sql`select ${run.kind}, sum(${run.rounds}) as runs, min(${run.rounds_first_run_id}) as first_run_id, max(${run.run_id}) as last_run_id,
  min(${run.rounds_since}) as started_at, max(coalesce(${run.finished_at}, ${run.started_at})) as ended_at,
  (array_agg(${run.status} order by ${run.run_id} desc))[1] as status, (array_agg(${run.error} order by ${run.run_id} desc))[1] as error,
  count(*) filter (where ${run.status} not in ('succeeded', 'running')) as troubled,
  sum(${run.rounds_requests}) as requests, sum(${run.inserted}) as inserted, sum(${run.updated}) as updated, sum(${run.deleted}) as deleted,
  sum(${run.transitions}) as transitions
from (
  select *, sum(begins) over (order by ${run.run_id}) as spell
  from (
    select *, (${run.kind} <> 'watch' or lag(${run.kind}) over (order by ${run.run_id}) is distinct from 'watch'
      or ${run.rounds_since} - lag(${run.started_at}) over (order by ${run.run_id}) > interval '5 minutes')::int as begins
    from (select * from ${run}${onPage` order by ${run.run_id} desc limit ${inline(MOST_RUNS)}`}) as newest
  ) as run
) as run
group by ${run.kind}, spell`;

/** What the page of the mirror asks, about the 24 hours and 7 days up to `now`. */
export function mirrorQuestions(now: Date) {
  const ofWeek = sql`${walk.started_at} > ${now.toISOString()}::timestamptz - interval '7 days'`;
  return {
    lists: askFor("freshness"),
    runs: ask("runs")`${RUNS}\norder by last_run_id desc`,
    counts: ask("walks")`
select (select sum(${by.rounds}) from ${walk} join ${by} on ${by.run_id} = ${walk.run_id}
    where ${walk.walk} is not null and ${ofWeek}) as walks,
  (select sum(${run.rounds}) from ${run}) as runs,
  (select count(*) from ${walk} where ${walk.walk} is not null and not ${walk.is_good}
    and ${ofWeek}) as not_good`,
    walks: ask("walks")`
select ${pick(walk, "run_id", "resource", "walk", "reason", "started_at")}
from ${walk}
where ${walk.walk} is not null and not ${walk.is_good} and ${ofWeek}
order by ${walk.run_id} desc, ${walk.resource}${onPage`\nlimit ${inline(MOST_ROWS)}`}`,
    muted: askFor("muted_projects"),
    references: askFor("broken_references"),
    quarantine: askFor("quarantine"),
    changes: askFor("schema_changes", {}, [], onPage`\nlimit 50`),
  } satisfies Record<string, Question>;
}

/** The blocks with files. */
export function mirrorBlocks(questions: ReturnType<typeof mirrorQuestions>, now: Date) {
  const { lists, runs, walks, references, quarantine, changes } = questions;
  const looks = ask("runs")`
select *
from (
${RUNS}
) as spell
where ended_at > ${now.toISOString()}::timestamptz - interval '25 hours'
order by last_run_id desc`;
  return { looks, lists, runs, walks, references, quarantine, drift: changes } satisfies BlockQuestions;
}

/** Nothing narrows them. */
export const MIRROR_FILES = {
  looks: {},
  lists: {},
  runs: {},
  walks: {},
  references: {},
  quarantine: {},
  drift: {},
};
