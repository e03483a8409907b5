import { sql } from "drizzle-orm";
import { counted } from "../../base/text.ts";
import { ask, inline, onPage, relation } from "../../report/ask.ts";
import type { Asks } from "./answers.ts";
import { sharesWords, WIDER } from "./changes.ts";
import { foreign, html, type Markup, shorten } from "./html.ts";
import { buildHref, withQuery } from "./links.ts";
import { momentMs, when } from "./marks.ts";
import { dayNumber, dayText } from "./period.ts";

/** An error line that more of the builds of the last 24 hours failed with than chance explains, in many projects. */
export interface RisingLine {
  readonly error_line_id: string;
  readonly error_line: string;
  /** In the 24 hours. */
  readonly projects: number;
  readonly failures: number;
  /** In the 28 days before. */
  readonly failures_before: number;
  /** All builds that finished in each of them. */
  readonly finished: number;
  readonly finished_before: number;
  /** The trigger and the id of the first build of the 24 hours. */
  readonly since: string;
  readonly first_build_id: string;
}

/** An error line without the name of its class, which says less: `No module named 'foo'`. */
export const sayingOf = (line: string, most = 90): string =>
  shorten(line.replace(/^(?:\w+\.)*(?:\w*(?:Error|Exception)|ERROR|error|fatal): (?=.)/, ""), most);

/** `22 Nov 03:10`. */
export const sinceWords = ({ since }: RisingLine, now: Date): string => when(momentMs(since), now);

/** `“No module named 'foo'” began at 22 Nov 03:10 and hit 40 projects`; a line that came before rises, or rose where that is not of now. */
export function risingWords(one: RisingLine, now: Date, isNow: boolean): string {
  const saying = `“${sayingOf(one.error_line)}”`;
  return one.failures_before === 0
    ? `${saying} began at ${sinceWords(one, now)} and hit ${counted(one.projects, "project")}`
    : `${saying} ${isNow ? "rises" : "rose"}: it hit ${counted(one.projects, "project")} since ${sinceWords(one, now)}`;
}

/** Says how often it came before. */
const beforeWords = (one: RisingLine): string =>
  one.failures_before === 0
    ? `The same line in ${counted(one.failures, "build")}, and in none of the 28 days before`
    : `The same line in ${counted(one.failures, "build")} of 24 hours: ${risenWords(one)}`;

/** `3.1 % against 1.2 % of the finished builds in the 28 days before`. */
export function risenWords(one: RisingLine): string {
  const failures = { now: one.failures, before: one.failures_before };
  const finished = { now: one.finished, before: one.finished_before };
  return `${sharesWords(failures, finished)} of the finished builds in the 28 days before`;
}

/** The verdict of a line that rises, as each page has it; `evidence` has nothing of other lines, and no end. */
export const sayRising = (one: RisingLine, now: Date, isNow: boolean) => ({
  title: `↑ ${sayingOf(one.error_line, 40)} hit ${counted(one.projects, "project")}`,
  sentence: `${risingWords(one, now, isNow)}.`,
  evidence: beforeWords(one),
});

export const RISING_MARK = { kind: "rises", word: "An error rises" } as const;

/** Links to all projects that it hit, and to the first of its builds. */
export const risingLinks = (one: RisingLine, at: Date): readonly [projects: Markup, first: Markup] => [
  html`<a href="${linesHref({ line: one.error_line_id }, at)}">The ${counted(one.projects, "project")}</a>`,
  html`<a href="${buildHref(one.first_build_id)}">The first of them, build ${foreign(one.first_build_id, 24)}</a>`,
];

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
/** With fewer days nothing can be called usual. */
const FEWEST_DAYS = 7;
/** A weekday may have twice the share of another. */
const MARGIN = 2;
const MOST_LINES = 20;

/**
 * The error lines that hit many projects in the 24 hours up to `at`, and of which the share of the finished builds rose by more than
 * chance explains since the 28 days before, or since as many as are known: by the interval of `changeOf`.
 */
export function askForRising(at: Date): Asks<RisingLine> {
  const now = sql`${at.toISOString()}::timestamptz`;
  const isLast = sql`${build.triggered_at} > ${now} - interval '24 hours'`;
  const ofDays = sql`${build.triggered_on} >= (${now} - interval '29 days')::date
    and ${build.triggered_at} > ${now} - interval '29 days' and ${build.triggered_at} <= ${now}`;
  return ask`
select lately.*, ${known.error_line}, finished, finished_before
from (
  select ${build.error_line_id}, count(*) filter (where ${isLast}) as failures, count(*) filter (where not ${isLast}) as failures_before,
    count(distinct ${build.project_id}) filter (where ${isLast} and ${build.project_id} <> '-1') as projects,
    min(${build.triggered_at}) filter (where ${isLast}) as since,
    (array_agg(${build.build_id} order by ${build.triggered_at}, ${build.build_id}) filter (where ${isLast}))[1] as first_build_id
  from ${build}
  where ${build.failed} = 1
    and ${ofDays}
  group by ${build.error_line_id}
  having count(distinct ${build.project_id}) filter (where ${isLast} and ${build.project_id} <> '-1') >= ${inline(FEWEST_PROJECTS)}
) as lately
join ${known} using (error_line_id)
cross join (
  select least(28, floor(extract(epoch from ${now} - min(${date.day})::timestamp at time zone 'UTC') / 86400) - 1)::float8 as days
  from ${date}
) as history
cross join (
  select count(${build.succeeded}) filter (where ${isLast}) as finished, count(${build.succeeded}) filter (where not ${isLast}) as finished_before
  from ${build}
  where ${ofDays}
) as ended
cross join lateral (
  select lately.failures / nullif(finished, 0)::float8 - failures_before / nullif(finished_before, 0)::float8 as by,
    report.rate_difference_low(lately.failures, finished, failures_before, finished_before) as low
) as difference
where error_line is not null and days >= ${inline(FEWEST_DAYS)}
  and by - ${inline(WIDER)} * (by - low) > 0
  and lately.failures * finished_before > ${inline(MARGIN)} * failures_before * finished
order by projects desc, failures desc, error_line_id${onPage`\nlimit ${inline(MOST_LINES)}`}`;
}
