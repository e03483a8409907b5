import { sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { ask, inline, onPage, type Question, relation } from "../../report/ask.ts";
import type { Row } from "./answers.ts";
import { shorten } from "./html.ts";
import { withQuery } from "./links.ts";
import { clockWords, momentMs, when } from "./marks.ts";
import { dayNumber, dayText } from "./period.ts";

/** The lines that rise, from the answer of `askForRising`. */
export const readRising = (rows: readonly Row[]) =>
  rows.map((row) => ({
    id: String(row.error_line_id),
    line: String(row.error_line),
    /** In the 24 hours. */
    projects: Number(row.projects),
    failures: Number(row.failures),
    /** In the 28 days before. */
    before: Number(row.failures_before),
    /** Since when, in milliseconds: the first build of the 24 hours. */
    since: momentMs(row.since),
    firstBuild: String(row.first_build_id),
  }));

/** An error line that came more often in the last 24 hours than chance explains, in many projects. */
export type RisingLine = ReturnType<typeof readRising>[number];

/** What a line says, without the name of its class, which says less: `No module named 'foo'`. */
export const sayingOf = (line: string, most = 90): string =>
  shorten(line.replace(/^(?:\w+\.)*(?:\w*(?:Error|Exception)|ERROR|error|fatal): (?=.)/, ""), most);

/** `03:10` of today, else with its day. */
export const sinceWords = ({ since }: RisingLine, now: Date): string =>
  new Date(since).getUTCDate() === now.getUTCDate() ? clockWords(since) : when(since, now);

/** `“No module named 'foo'” began at 03:10 and hit 40 projects`; where it came before, how often. */
export function risingWords(one: RisingLine, now: Date): string {
  const saying = `“${sayingOf(one.line)}”`;
  return one.before === 0
    ? `${saying} began at ${sinceWords(one, now)} and hit ${counted(one.projects, "project")}`
    : `${saying} rises: it hit ${counted(one.projects, "project")} since ${sinceWords(one, now)}`;
}

/** How often it came before. */
export const beforeWords = ({ failures, before }: RisingLine): string =>
  before === 0
    ? `The same line in ${counted(failures, "build")}, and in none of the 28 days before.`
    : `The same line in ${counted(failures, "build")} of 24 hours, against ${grouped(before)} in the 28 days before.`;

/** The page of one error line, or of one kind, in the days up to `at`, its day included. */
export function linesHref(of: { line: string } | { print: string }, at: Date, days = 14): string {
  const today = dayNumber(at.toISOString());
  return `${withQuery("/errors", { since: dayText(today - days + 1), until: dayText(today), ...of })}#lines`;
}

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
