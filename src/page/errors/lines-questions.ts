import { type SQL, sql } from "drizzle-orm";
import { ask, inline, onPage, pick, type Question, relation, where } from "../../report/ask.ts";
import type { Asks } from "../parts/answers.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { type Query, withQuery } from "../parts/links.ts";
import { dateOf, endOfBefore, type Period, type PeriodChoice, within } from "../parts/period.ts";

export const ERRORS_PATH = "/errors";

/** The address of the list with another choice; what is not named is kept, but the list begins anew. */
export type ErrorsHref = (changed: Query) => string;

/** A choice as it stands in an address, without its page. */
export const keptQuery = ({ since, until, kind, line, print, sort }: ErrorsChoice): Query => ({
  since,
  until,
  kind,
  line,
  print,
  sort: sort === "rise" ? undefined : sort,
});

export const hrefsOf =
  (choice: ErrorsChoice): ErrorsHref =>
  (changed) => {
    const { sort, ...others } = { ...keptQuery(choice), ...changed };
    return `${withQuery(ERRORS_PATH, { ...others, sort: sort === "rise" ? undefined : sort })}#lines`;
  };

const build = relation("fact_builds");
const daily = relation("error_fingerprints_daily");
const known = relation("error_fingerprints", "known");
const knownLine = relation("error_lines", "known_line");
const lines = relation("error_lines");

/** Kinds of one page of the list. */
export const PRINTS_PER_PAGE = 10;
/** Failures one by one are looked at for so many days; the lines of a longer period are those of all time. */
const MOST_FAILURE_DAYS = 92;
/** Lines of a kind; where one kind was chosen; projects that are folded below a line; where one line was chosen. */
const [FEW_LINES, MOST_LINES, FEW_PROJECTS, MOST_PROJECTS] = [3, 60, 6, 200];

const linesOf = ({ print }: ErrorsChoice): number => (print === undefined ? FEW_LINES : MOST_LINES);
/** The projects of a line that are shown at most. */
export const projectsOf = ({ line }: ErrorsChoice): number =>
  line === undefined ? FEW_PROJECTS : MOST_PROJECTS;

/** The orders of the kinds, the largest first. The one whose line hit most new projects rises first. */
export const PRINT_SORTS = {
  rise: { head: "What rises first", order: sql`rise desc, failures desc` },
  projects: { head: "Most projects", order: sql`projects desc, failures desc` },
  builds: { head: "Most builds", order: sql`failures desc, projects desc` },
  newest: { head: "Newest", order: sql`first_triggered_at desc nulls last, projects desc` },
} as const;

type PrintSort = keyof typeof PRINT_SORTS;

export interface ErrorsChoice extends PeriodChoice {
  /** An error class. */
  readonly kind: string | undefined;
  /** An error line, by its id; every project that it hit is shown. */
  readonly line: string | undefined;
  /** A kind of line, by its fingerprint; all its lines are shown. */
  readonly print: string | undefined;
  readonly sort: PrintSort;
  readonly page: number;
}

/** The choice of the reader, resolved. */
export interface ErrorsScope extends Pick<PageMoment, "now" | "at" | "isNow"> {
  readonly choice: ErrorsChoice;
  readonly period: Period;
  readonly href: ErrorsHref;
}

/** The builds of the period that failed and finished, of all kinds. */
export interface ErrorsSaid {
  readonly failed: number;
  readonly finished: number;
  /** Those that finished in the period before. */
  readonly finishedBefore: number;
}

/** The lines of a long period are those of all time. */
export const isAllTime = ({ days }: Period): boolean => days > MOST_FAILURE_DAYS;

/** The failures that a choice leaves. A kind is counted whole, also where one of its lines was chosen. */
const chosen = ({ kind, line, print }: ErrorsChoice, from: typeof build | typeof lines): SQL[] => [
  ...(kind === undefined ? [] : [sql`${from.error_class} = ${kind}`]),
  ...(line === undefined
    ? []
    : [
        sql`${from.error_fingerprint} in (select ${knownLine.error_fingerprint} from ${knownLine} where ${knownLine.error_line_id} = ${line})`,
      ]),
  ...(print === undefined ? [] : [sql`${from.error_fingerprint} = ${print}`]),
];

/** One line of a choice, whenever it came. */
export const askForChosen = (choice: ErrorsChoice): Question =>
  ask`select 1 from ${lines}${where(...chosen(choice, lines))} limit 1`;

/** The failures of a period, and of the one before where that is known, by kind (without a line) and by line. */
function countFailures(period: Period, at: Date, conditions: readonly SQL[]): SQL {
  const { start, first, last, before } = period;
  const end = endOfBefore(period, at);
  const isOfPeriod = sql`${build.triggered_on} >= ${dateOf(first)}`;
  const isBefore = sql`${build.triggered_on} < ${dateOf(first)}${end === null ? undefined : sql` and ${build.triggered_at} <= ${end.toISOString()}::timestamptz`}`;
  const projects = (when: SQL) =>
    sql`count(distinct ${build.project_id}) filter (where ${when} and ${build.project_id} <> '-1')`;
  const known = (count: SQL) => (before === null ? UNKNOWN : count);
  return sql`select ${pick(build, "error_fingerprint", "error_line_id")},
    count(*) filter (where ${isOfPeriod}) as failures, ${known(sql`count(*) filter (where ${isBefore})`)} as failures_before,
    ${projects(isOfPeriod)} as projects, ${known(projects(isBefore))} as projects_before
  from ${build}
  where ${all(sql`${build.failed} = 1`, within(build.triggered_on, start, last), ...conditions)}
  group by grouping sets ((${build.error_fingerprint}), (${pick(build, "error_fingerprint", "error_line_id")}))`;
}

const UNKNOWN = sql`null::bigint`;

function countAllTime(choice: ErrorsChoice): SQL {
  return sql`select ${pick(known, "error_fingerprint")}, null as error_line_id, ${known.failures}, ${UNKNOWN} as failures_before,
    ${known.projects}, ${UNKNOWN} as projects_before
  from ${known}
  union all
  select ${pick(lines, "error_fingerprint", "error_line_id", "failures")}, null, ${lines.projects}, null
  from ${lines}${where(...chosen(choice, lines))}`;
}

const all = (...conditions: SQL[]): SQL => sql.join(conditions, sql`\n    and `);

/** A line, beside the counts of its kind. Counts of the period before are null where that is not known. */
export interface LineRow {
  readonly error_class: string;
  readonly error_fingerprint: string;
  readonly mask: string | null;
  readonly kind_lines: number;
  readonly kind_failures: number;
  readonly kind_failures_before: number | null;
  readonly kind_projects: number;
  readonly error_line_id: string;
  readonly error_line: string | null;
  readonly failures: number;
  readonly failures_before: number | null;
  readonly projects: number;
  readonly first_triggered_at: string | null;
  readonly last_triggered_at: string | null;
  readonly last_build_id: string;
  /** The number of kinds in the list. */
  readonly kinds: number;
  /** The failures of the most frequent line of the kind that is not shown. */
  readonly most_of_rest: number | null;
}

/**
 * The lines of a choice, each beside what is counted of its kind: kinds in the chosen order, and of each its lines with most
 * failures first, or those that rise first where that is the order. A kind has the class of its newest failure.
 */
export function askForLines(period: Period, at: Date, choice: ErrorsChoice): Asks<LineRow> {
  const isLong = isAllTime(period);
  const { line, page } = choice;
  const sort = isLong && choice.sort === "rise" ? "projects" : choice.sort;
  const [from, few] = [inline((page - 1) * PRINTS_PER_PAGE), inline(linesOf(choice))];
  return ask`
with counted as (
  ${isLong ? countAllTime(choice) : countFailures(period, at, chosen(choice, build))}
), kind as (
  select *, row_number() over (order by ${PRINT_SORTS[sort].order}, error_fingerprint) as kind_place${onPage`, count(*) over () as kinds`}
  from (
    select own.error_fingerprint, ${pick(known, "error_class", "example", "first_triggered_at")},
      own.failures, own.failures_before, own.projects, of_line.lines, of_line.rise
    from counted as own
    join (
      select error_fingerprint, count(*) as lines, max(projects - projects_before) as rise
      from counted
      where error_line_id is not null and failures > 0
      group by error_fingerprint
    ) as of_line using (error_fingerprint)
    join ${known} using (error_fingerprint)
    where own.error_line_id is null
  ) as of_kind
), line as (
  select *, row_number() over (
    partition by error_fingerprint order by ${sort === "rise" ? sql`projects - projects_before desc, ` : undefined}failures desc, projects desc, error_line_id
  ) as place
  from counted
  where failures > 0 and ${line === undefined ? sql`error_line_id is not null` : sql`error_line_id = ${line}`}
)
select kind.error_class, kind.error_fingerprint, report.error_mask(kind.example) as mask, kind.lines as kind_lines,
  kind.failures as kind_failures, kind.failures_before as kind_failures_before, kind.projects as kind_projects,
  line.error_line_id, ${knownLine.error_line}, line.failures, line.failures_before, line.projects,
  ${pick(knownLine, "first_triggered_at", "last_triggered_at", "last_build_id")}${onPage`, kinds,
  (select max(rest.failures) from line as rest where rest.error_fingerprint = kind.error_fingerprint and rest.place > ${few}) as most_of_rest`}
from kind
join line using (error_fingerprint)
join ${knownLine} using (error_line_id)${onPage`
where kind_place > ${from} and kind_place <= ${from} + ${inline(PRINTS_PER_PAGE)} and place <= ${few}`}
order by kind_place, place`;
}

const isOneOf = (column: SQL, ids: readonly string[]): SQL =>
  sql`${column} in (select shown.id from json_array_elements_text(${JSON.stringify(ids)}::text::json) as shown (id))`;

export interface PrintDay {
  readonly error_fingerprint: string;
  readonly day: string;
  readonly failures: number;
}

/** The failures of each of the kinds by day. */
export function askForPrintDays({ start, last }: Period, prints: readonly string[]): Asks<PrintDay> {
  const group = pick(daily, "error_fingerprint", "day");
  return ask`
select ${group}, sum(${daily.failures}) as failures
from ${daily}
where ${within(daily.day, start, last)}
  and ${isOneOf(daily.error_fingerprint, prints)}
group by ${group}`;
}

export interface LineDay {
  readonly error_line_id: string;
  readonly day: string;
  readonly failures: number;
}

/** The failures of each of the lines by day. */
export const askForLineDays = (
  { start, last }: Period,
  prints: readonly string[],
  ids: readonly string[],
): Asks<LineDay> => ask`
select ${build.error_line_id}, ${build.triggered_on} as day, count(*) as failures
from ${build}
where ${build.failed} = 1 and ${within(build.triggered_on, start, last)}
  and ${isOneOf(build.error_fingerprint, prints)}
  and ${isOneOf(build.error_line_id, ids)}
group by ${pick(build, "error_line_id", "triggered_on")}`;

export interface RestRow {
  readonly error_fingerprint: string;
  readonly projects: number;
}

/** The number of projects that the lines of each kind hit that are not shown. */
export function askForRestProjects(
  { first, last }: Period,
  choice: ErrorsChoice,
  prints: readonly string[],
  ids: readonly string[],
): Asks<RestRow> {
  const only = chosen({ ...choice, line: undefined, print: undefined }, build);
  return ask`
select ${build.error_fingerprint}, count(distinct ${build.project_id}) as projects
from ${build}
where ${all(sql`${build.failed} = 1 and ${build.project_id} <> '-1'`, within(build.triggered_on, first, last), ...only)}
  and ${isOneOf(build.error_fingerprint, prints)}
  and not ${isOneOf(build.error_line_id, ids)}
group by ${build.error_fingerprint}`;
}

export interface LineProject {
  readonly error_line_id: string;
  readonly project_slug: string;
  readonly version_slug: string;
  readonly type: string;
  readonly failures: number;
  readonly build_id: string;
  readonly triggered_at: string;
}

/** The projects that each of the lines hit in the period, the latest first. */
export const askForLineProjects = (
  { first, last }: Period,
  choice: ErrorsChoice,
  ids: readonly string[],
): Asks<LineProject> => ask`
select error_line_id, project_slug, version_slug, type, failures, build_id, triggered_at
from (
  select error_line_id, project_slug, version_slug, type, build_id, triggered_at,
    count(*) over project as failures, row_number() over newest as place_in_project,
    dense_rank() over line as place
  from (
    select *, max(triggered_at) over (partition by error_line_id, project_id) as project_at
    from (
      select ${pick(build, "error_line_id", "project_id", "project_slug", "version_slug", "type", "build_id", "triggered_at")}
      from ${build}
      where ${build.failed} = 1 and ${within(build.triggered_on, first, last)} and ${build.project_id} <> '-1'
        and ${isOneOf(build.error_line_id, ids)}
    ) as failure
  ) as dated
  window project as (partition by error_line_id, project_id),
    newest as (partition by error_line_id, project_id order by triggered_at desc, build_id desc),
    line as (partition by error_line_id order by project_at desc, project_id)
) as placed
where place_in_project = 1 and place <= ${inline(projectsOf(choice))}
order by error_line_id, place`;
