import { type SQL, sql } from "drizzle-orm";
import { ask, inline, type Question, relation, where } from "../../report/ask.ts";
import { type Asks, piece, questionsOf } from "../parts/answers.ts";
import type { BothPeriods } from "../parts/changes.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { type Query, withQuery } from "../parts/links.ts";
import { dateOf, dayText, endOfBefore, type Period, type PeriodChoice } from "../parts/period.ts";

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
export interface ErrorsScope extends PageMoment {
  readonly choice: ErrorsChoice;
  readonly period: Period;
  readonly href: ErrorsHref;
}

/** The choice of all errors. */
export const WHOLE = { kind: undefined, line: undefined, print: undefined };

/** What the files of these questions have places for: the first and the last day of the period, and the first of both periods. */
const placesOf = ({ period: { start, first, last } }: ErrorsScope) => ({
  start: dayText(start),
  first: dayText(first),
  last: dayText(last),
});

export const errorsQuestion = questionsOf(import.meta.url, placesOf);

/** The builds of the period that failed, and those that finished, of all kinds. */
export interface ErrorsSaid {
  readonly failed: number;
  readonly finished: BothPeriods;
}

/** The lines of a long period are those of all time. */
export const isAllTime = ({ days }: Period): boolean => days > MOST_FAILURE_DAYS;

/** The failures that a choice leaves. A kind is counted whole, also where one of its lines was chosen. */
const chosen = ({ kind, line, print }: ErrorsChoice, from: typeof build | typeof lines) => [
  kind !== undefined && sql`${from.error_class} = ${kind}`,
  line !== undefined &&
    sql`${from.error_fingerprint} in (select ${knownLine.error_fingerprint} from ${knownLine} where ${knownLine.error_line_id} = ${line})`,
  print !== undefined && sql`${from.error_fingerprint} = ${print}`,
];

/** One line of a choice, whenever it came. */
export const askForChosen = (choice: ErrorsChoice): Question =>
  ask`select 1 from ${lines}${where(...chosen(choice, lines))} limit 1`;

const FAILURES_OF_PERIOD = piece("failures_of_period", import.meta.url);
const FAILURES_OF_ALL_TIME = piece("failures_of_all_time", import.meta.url);

/** The failures of a period, and of the one before where that is known, by kind (without a line) and by line. */
function countFailures(scope: ErrorsScope): SQL {
  const { first, before } = scope.period;
  const end = endOfBefore(scope.period, scope.at);
  const isBefore = sql`triggered_on < ${dateOf(first)}${end === null ? undefined : sql` and triggered_at <= ${end.toISOString()}::timestamptz`}`;
  const known = (count: SQL) => (before === null ? sql`null::bigint` : count);
  return FAILURES_OF_PERIOD({
    ...placesOf(scope),
    failuresBefore: known(sql`count(*) filter (where ${isBefore})`),
    projectsBefore: known(sql`count(distinct project_id) filter (where ${isBefore} and project_id <> '-1')`),
    chosen: also(chosen(scope.choice, build)),
  });
}

/** These conditions behind others. */
const also = (conditions: readonly (SQL | false)[]): SQL =>
  sql.join(conditions.flatMap((condition) => (condition === false ? [] : sql`\n    and ${condition}`)));

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

const LINES = errorsQuestion<LineRow>("lines_by_kind");

/**
 * The lines of a choice, each beside what is counted of its kind: kinds in the chosen order, and of each its lines with most
 * failures first, or those that rise first where that is the order. A kind has the class of its newest failure.
 */
export function askForLines(scope: ErrorsScope): Asks<LineRow> {
  const { choice } = scope;
  const isLong = isAllTime(scope.period);
  const { line, page } = choice;
  const sort = isLong && choice.sort === "rise" ? "projects" : choice.sort;
  return LINES(scope, {
    counted: isLong
      ? FAILURES_OF_ALL_TIME({ chosen: where(...chosen(choice, lines)) })
      : countFailures(scope),
    order: PRINT_SORTS[sort].order,
    lineOrder: sql`${sort === "rise" ? sql`projects - projects_before desc, ` : undefined}failures desc, projects desc`,
    isLine: line === undefined ? sql`error_line_id is not null` : sql`error_line_id = ${line}`,
    from: inline((page - 1) * PRINTS_PER_PAGE),
    perPage: inline(PRINTS_PER_PAGE),
    few: inline(linesOf(choice)),
  });
}

const isOneOf = (column: SQL, ids: readonly string[]): SQL =>
  sql`${column} in (select shown.id from json_array_elements_text(${JSON.stringify(ids)}::text::json) as shown (id))`;

export interface PrintDay {
  readonly error_fingerprint: string;
  readonly day: string;
  readonly failures: number;
}

export interface LineDay {
  readonly error_line_id: string;
  readonly day: string;
  readonly failures: number;
}

interface RestRow {
  readonly error_fingerprint: string;
  readonly projects: number;
}

interface LineProject {
  readonly error_line_id: string;
  readonly project_slug: string;
  readonly version_slug: string;
  readonly type: string;
  readonly failures: number;
  readonly build_id: string;
  readonly triggered_at: string;
}

const KIND_DAYS = errorsQuestion<PrintDay>("kinds_by_day");
const LINE_DAYS = errorsQuestion<LineDay>("lines_by_day");
const REST_PROJECTS = errorsQuestion<RestRow>("projects_of_other_lines");
const LINE_PROJECTS = errorsQuestion<LineProject>("projects_of_lines");

/**
 * What is shown of listed lines: the failures of each and of its kind by day; the projects that each hit in the period, the latest first, and
 * how many the other lines of its kind hit. Of all time nobody counts projects.
 */
export function askForShown(scope: ErrorsScope, listed: readonly LineRow[]) {
  const { period, choice } = scope;
  const prints = new Set(listed.map(({ error_fingerprint }) => error_fingerprint));
  const isKind = isOneOf(build.error_fingerprint, [...prints]);
  const isLine = isOneOf(
    build.error_line_id,
    listed.map(({ error_line_id }) => error_line_id),
  );
  const isAll = isAllTime(period);
  const ofKind = also(chosen({ ...choice, line: undefined, print: undefined }, build));
  return {
    printDays: KIND_DAYS(scope, { isKind }),
    lineDays: LINE_DAYS(scope, { isKind, isLine }),
    projects: isAll ? null : LINE_PROJECTS(scope, { isLine, most: inline(projectsOf(choice)) }),
    restProjects: isAll ? null : REST_PROJECTS(scope, { chosen: ofKind, isKind, isLine }),
  };
}
