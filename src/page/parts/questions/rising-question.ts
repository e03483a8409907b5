import { sql } from "drizzle-orm";
import { ask, inline, onPage, type Question, relation } from "../../../report/ask.ts";

const build = relation("fact_builds");
const known = relation("error_lines", "known");

const date = relation("dim_dates");
/** Fewer projects with a line are no news. */
const FEWEST_PROJECTS = 5;
/** With fewer days there is no saying what is usual. */
const FEWEST_DAYS = 7;
/** A weekday may have twice the failures of another. */
const MARGIN = 2;
const MOST_LINES = 20;

/**
 * The error lines that hit many projects in the 24 hours up to `at`, and came more often than chance explains, by how often
 * they came in the 28 days before, or in as many whole days as are known.
 */
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
cross join (
  select least(28, floor(extract(epoch from ${now} - min(${date.day})::timestamp at time zone 'UTC') / 86400) - 1)::float8 as days
  from ${date}
) as history
where error_line is not null and days >= ${inline(FEWEST_DAYS)}
  and report.wilson_low(lately.failures, lately.failures + failures_before) > ${inline(MARGIN)} / (days + ${inline(MARGIN)})
order by projects desc, failures desc, error_line_id${onPage`\nlimit ${inline(MOST_LINES)}`}`;
}
