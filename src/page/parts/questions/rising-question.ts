import { sql } from "drizzle-orm";
import { ask, onPage } from "../../../report/ask.ts";
import type { Question } from "../../../report/question.ts";
import { inline, relation } from "../../../report/relation.ts";

const build = relation("fact_builds");
const known = relation("error_lines", "known");

/** Fewer projects with a line are no news. */
export const FEWEST_PROJECTS = 5;
const MOST_LINES = 20;

/** The error lines that hit many projects in the 24 hours up to `at`, with how often they came in the 28 days before. */
export function askForRising(at: Date): Question {
  const now = sql`${at.toISOString()}::timestamptz`;
  const isLast = sql`${build.triggered_at} > ${now} - interval '24 hours'`;
  return ask("error_lines")`
select lately.*, ${known.error_line}
from (
  select ${build.error_line_id}, count(*) filter (where ${isLast}) as failures, count(*) filter (where not ${isLast}) as failures_before,
    count(distinct ${build.project_id}) filter (where ${isLast} and ${build.project_id} <> '-1') as projects,
    min(${build.triggered_at}) filter (where ${isLast}) as since,
    (array_agg(${build.build_id} order by ${build.triggered_at}, ${build.build_id}) filter (where ${isLast}))[1] as first_build_id
  from ${build}
  where ${build.failed} = 1
    and ${build.triggered_on} >= (${now} - interval '29 days')::date
    and ${build.triggered_at} > ${now} - interval '29 days' and ${build.triggered_at} <= ${now}
  group by ${build.error_line_id}
  having count(distinct ${build.project_id}) filter (where ${isLast} and ${build.project_id} <> '-1') >= ${inline(FEWEST_PROJECTS)}
) as lately
join ${known} using (error_line_id)
where error_line is not null
order by projects desc, failures desc, error_line_id${onPage`\nlimit ${inline(MOST_LINES)}`}`;
}
