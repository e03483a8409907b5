import { type SQL, sql } from "drizzle-orm";
import { ask, askFor, onPage } from "../../report/ask.ts";
import type { Question } from "../../report/question.ts";
import { inline, pick, relation, where } from "../../report/relation.ts";
import type { BlockQuestions } from "../parts/offers.ts";
import type { Period } from "../parts/period.ts";
import { dateOf, FIRST_DAY, within } from "../parts/questions/days.ts";
import { askForKinds, KINDS } from "../parts/questions/kinds-question.ts";
import { askForRising } from "../parts/questions/rising-question.ts";

const build = relation("fact_builds");
const daily = relation("error_fingerprints_daily");
const failing = relation("failing_now");
const known = relation("error_fingerprints", "known");
const knownLine = relation("error_lines", "known");
const lines = relation("error_lines");
const rate = relation("success_rate_daily");

/** Kinds of one page of the list. */
export const PRINTS_PER_PAGE = 10;
/** Failures one by one are looked at for so many days; the lines of a longer period are those of all time. */
export const MOST_FAILURE_DAYS = 92;
/** Lines of a kind; where one kind was chosen; projects that are folded below a line; where one line was chosen. */
const [FEW_LINES, MOST_LINES, FEW_PROJECTS, MOST_PROJECTS] = [3, 60, 6, 200];

/** How many lines of a kind are shown. */
export const linesOf = ({ print }: ErrorsChoice): number => (print === undefined ? FEW_LINES : MOST_LINES);
/** How many projects of a line are shown. */
export const projectsOf = ({ line }: ErrorsChoice): number =>
  line === undefined ? FEW_PROJECTS : MOST_PROJECTS;

/** What the kinds are sorted by, the largest first. The one whose line hit most new projects rises first. */
export const PRINT_SORTS = {
  rise: { head: "What rises first", order: sql`rise desc, failures desc` },
  projects: { head: "Most projects", order: sql`projects desc, failures desc` },
  builds: { head: "Most builds", order: sql`failures desc, projects desc` },
  newest: { head: "Newest", order: sql`first_triggered_at desc nulls last, projects desc` },
} as const;

export type PrintSort = keyof typeof PRINT_SORTS;

export interface ErrorsChoice {
  /** An error class. */
  readonly kind: string | undefined;
  /** An error line, by its id; every project that it hit is shown. */
  readonly line: string | undefined;
  /** A kind of line, by its fingerprint; all its lines are shown. */
  readonly print: string | undefined;
  readonly sort: PrintSort;
  readonly page: number;
}

/** Whether the lines of a period are those of all time. */
export const isAllTime = ({ days }: Period): boolean => days > MOST_FAILURE_DAYS;

/** What a choice is judged by: the first day with a build, and all kinds that there are. */
export const KNOWN = {
  days: FIRST_DAY,
  kinds: KINDS,
};

/** All questions of the page of errors but those about the kinds that are shown. */
export function errorsQuestions(period: Period, choice: ErrorsChoice, at: Date) {
  const { first, last } = period;
  return {
    kinds: askForKinds(period),
    classes: askFor("error_classes"),
    projects: isAllTime(period) ? askFor("error_classes") : askForProjects(period),
    failing: ask("failing_now")`
select ${failing.error_class}, count(distinct ${failing.project_id}) as projects
from ${failing}
where ${failing.project_id} <> '-1'
group by ${failing.error_class}`,
    rising: askForRising(at),
    perKind: ask("error_fingerprints_daily")`
select ${daily.error_class}, count(distinct ${daily.error_fingerprint}) as lines
from ${daily}
where ${within(daily.day, first, last)}
group by ${daily.error_class}`,
    finished: ask("success_rate_daily")`
select sum(${rate.finished}) as finished\nfrom ${rate}\nwhere ${within(rate.day, first, last)}`,
    prints: isAllTime(period) ? askForAllPrints(choice) : askForPrints(period, choice),
  } satisfies Record<string, Question>;
}

/** The blocks with files. */
export const errorsBlocks = ({ kinds, prints, rising }: ReturnType<typeof errorsQuestions>) =>
  ({ classes: kinds, lines: prints, risen: rising }) satisfies BlockQuestions;

function askForProjects({ first, last }: Period): Question {
  return ask("fact_builds")`
select ${build.error_class}, count(distinct ${build.project_id}) as projects
from ${build}
where ${build.failed} = 1 and ${build.project_id} <> '-1'
  and ${within(build.triggered_on, first, last)}
group by ${build.error_class}`;
}

/** What a choice leaves of the failures. A kind is shown whole, also where one of its lines was chosen. */
const chosen = ({ kind, line, print }: ErrorsChoice, from: typeof build | typeof lines): SQL[] => [
  ...(kind === undefined ? [] : [sql`${from.error_class} = ${kind}`]),
  ...(line === undefined
    ? []
    : [
        sql`${from.error_fingerprint} in (select ${knownLine.error_fingerprint} from ${knownLine} where ${knownLine.error_line_id} = ${line})`,
      ]),
  ...(print === undefined ? [] : [sql`${from.error_fingerprint} = ${print}`]),
];

/** The failures of a period and of the one before, by kind (without a line) and by line. */
function countFailures({ start, first, last }: Period, conditions: readonly SQL[]): SQL {
  const isOfPeriod = sql`${build.triggered_on} >= ${dateOf(first)}`;
  const projects = (when: SQL) =>
    sql`count(distinct ${build.project_id}) filter (where ${when} and ${build.project_id} <> '-1')`;
  const isBefore = sql`${build.triggered_on} < ${dateOf(first)}`;
  return sql`select ${pick(build, "error_fingerprint", "error_line_id")},
    count(*) filter (where ${isOfPeriod}) as failures, count(*) filter (where ${isBefore}) as failures_before,
    ${projects(isOfPeriod)} as projects, ${projects(isBefore)} as projects_before
  from ${build}
  where ${all(sql`${build.failed} = 1`, within(build.triggered_on, start, last), ...conditions)}
  group by grouping sets ((${build.error_fingerprint}), (${pick(build, "error_fingerprint", "error_line_id")}))`;
}

const all = (...conditions: SQL[]): SQL => sql.join(conditions, sql`\n    and `);

/** The kinds of a period, by its failures. A kind has the class of its newest failure. */
function askForPrints(period: Period, choice: ErrorsChoice): Question {
  return ask("error_fingerprints")`
with counted as (
  ${countFailures(period, chosen(choice, build))}
)
select shown.*, report.error_mask(shown.example) as mask
from (
  select of_kind.error_fingerprint, ${pick(known, "error_class", "example", "first_triggered_at")},
    of_kind.failures, of_kind.failures_before, of_kind.projects, of_line.lines, of_line.rise${onPage`, count(*) over () as kinds`}
  from counted as of_kind
  join (
    select error_fingerprint, count(*) as lines, max(projects - projects_before) as rise
    from counted
    where error_line_id is not null and failures > 0
    group by error_fingerprint
  ) as of_line using (error_fingerprint)
  join ${known} using (error_fingerprint)
  where of_kind.error_line_id is null
  ${pageOf(choice, choice.sort)}
) as shown`;
}

function askForAllPrints(choice: ErrorsChoice): Question {
  const { sort } = choice;
  return ask("error_fingerprints")`
select shown.*, report.error_mask(shown.example) as mask
from (
  select ${pick(known, "error_fingerprint", "error_class", "example", "first_triggered_at", "failures")}, null as failures_before,
    ${known.projects}, of_line.lines, null as rise${onPage`, count(*) over () as kinds`}
  from ${known}
  join (
    select ${lines.error_fingerprint}, count(*) as lines
    from ${lines}${where(...chosen(choice, lines))}
    group by ${lines.error_fingerprint}
  ) as of_line using (error_fingerprint)
  ${pageOf(choice, sort === "rise" ? "projects" : sort)}
) as shown`;
}

const pageOf = ({ page }: ErrorsChoice, sort: PrintSort): SQL =>
  sql`order by ${PRINT_SORTS[sort].order}, error_fingerprint${onPage`
  limit ${inline(PRINTS_PER_PAGE)} offset ${(page - 1) * PRINTS_PER_PAGE}`}`;

const toJson = (texts: readonly string[]): string => JSON.stringify(texts);

/** That a column has one of these values. */
const isOneOf = (column: SQL, ids: readonly string[]): SQL =>
  sql`${column} in (select shown.id from json_array_elements_text(${toJson(ids)}::text::json) as shown (id))`;

/** The lines of these kinds with most failures: those that rise first where that is the order. */
export function askForLines(period: Period, choice: ErrorsChoice, prints: readonly string[]): Question {
  const isLong = isAllTime(period);
  const { line } = choice;
  const from = isLong ? lines : build;
  const only = [
    ...chosen({ ...choice, line: undefined, print: undefined }, from),
    ...(line === undefined ? [] : [sql`${from.error_line_id} = ${line}`]),
  ];
  const counted = isLong
    ? sql`select ${pick(lines, "error_fingerprint", "error_line_id", "failures")}, null::int as failures_before,
    ${lines.projects}, null::int as projects_before
  from ${lines}
  where ${all(isOneOf(lines.error_fingerprint, prints), ...only)}`
    : countFailures(period, [isOneOf(build.error_fingerprint, prints), ...only]);
  const rise = choice.sort === "rise" && !isLong ? sql`projects - projects_before desc, ` : sql``;
  return ask("error_lines")`
with counted as (
  ${counted}
), placed as (
  select counted.*, row_number() over (partition by error_fingerprint order by ${rise}failures desc, projects desc, error_line_id) as place
  from counted
  where error_line_id is not null and failures > 0
)
select placed.*, ${pick(knownLine, "error_line", "first_triggered_at", "last_triggered_at", "last_build_id")},
  (select max(rest.failures) from placed as rest
    where rest.error_fingerprint = placed.error_fingerprint and rest.place > ${inline(linesOf(choice))}) as most_of_rest
from placed
join ${knownLine} using (error_line_id)
where place <= ${inline(linesOf(choice))}
order by placed.error_fingerprint, place`;
}

/** How often each of the kinds failed by day. */
export function askForPrintDays({ start, last }: Period, prints: readonly string[]): Question {
  const group = pick(daily, "error_fingerprint", "day");
  return ask("error_fingerprints_daily")`
select ${group}, sum(${daily.failures}) as failures
from ${daily}
where ${within(daily.day, start, last)}
  and ${isOneOf(daily.error_fingerprint, prints)}
group by ${group}`;
}

/** How often each of the lines failed by day. */
export function askForLineDays(
  { start, last }: Period,
  prints: readonly string[],
  ids: readonly string[],
): Question {
  return ask("fact_builds")`
select ${build.error_line_id}, ${build.triggered_on} as day, count(*) as failures
from ${build}
where ${build.failed} = 1 and ${within(build.triggered_on, start, last)}
  and ${isOneOf(build.error_fingerprint, prints)}
  and ${isOneOf(build.error_line_id, ids)}
group by ${pick(build, "error_line_id", "triggered_on")}`;
}

/** How many projects the lines of each kind hit that are not shown. */
export function askForRestProjects(
  { first, last }: Period,
  choice: ErrorsChoice,
  prints: readonly string[],
  ids: readonly string[],
): Question {
  const only = chosen({ ...choice, line: undefined, print: undefined }, build);
  return ask("fact_builds")`
select ${build.error_fingerprint}, count(distinct ${build.project_id}) as projects
from ${build}
where ${all(sql`${build.failed} = 1 and ${build.project_id} <> '-1'`, within(build.triggered_on, first, last), ...only)}
  and ${isOneOf(build.error_fingerprint, prints)}
  and not ${isOneOf(build.error_line_id, ids)}
group by ${build.error_fingerprint}`;
}

/** The projects that each of the lines hit in the period, the latest first. */
export function askForLineProjects(
  { first, last }: Period,
  choice: ErrorsChoice,
  ids: readonly string[],
): Question {
  return ask("fact_builds")`
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
}
