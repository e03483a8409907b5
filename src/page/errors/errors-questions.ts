import { type SQL, sql } from "drizzle-orm";
import { ask, askFor } from "../../report/ask.ts";
import type { Question } from "../../report/question.ts";
import { inline, pick, relation, where } from "../../report/relation.ts";
import type { Period } from "../parts/period.ts";
import { dateOf, FIRST_DAY, within } from "../parts/questions/days.ts";
import { askForKinds } from "../parts/questions/kinds-question.ts";

const build = relation("fact_builds");
const daily = relation("error_fingerprints_daily");
const failing = relation("failing_now");
const kind = relation("error_classes");
const line = relation("error_fingerprints");
const known = relation("error_fingerprints", "known");
const rate = relation("success_rate_daily");
const rule = relation("error_rules");

/** Lines of one page of the list. */
export const LINES_PER_PAGE = 20;
/** Failures one by one are looked at for so many days; the lines of a longer period are those of all time. */
export const MOST_FAILURE_DAYS = 92;
/** Projects that are folded below a line. */
export const MOST_PROJECTS = 10;

/** What the lines are sorted by, the largest first. */
export const LINE_SORTS = {
  projects: { head: "Projects", order: sql`projects desc, failures desc` },
  builds: { head: "Builds", order: sql`failures desc, projects desc` },
  rise: { head: "Rise", order: sql`of_period.failures - of_period.failures_before desc, failures desc` },
  newest: { head: "Newest", order: sql`${line.first_triggered_at} desc nulls last, projects desc` },
} as const;

export type LineSort = keyof typeof LINE_SORTS;

export interface ErrorsChoice {
  /** An error class. */
  readonly kind: string | undefined;
  readonly sort: LineSort;
  readonly page: number;
}

/** Whether the lines of a period are those of all time. */
export const isAllTime = ({ days }: Period): boolean => days > MOST_FAILURE_DAYS;

/** What a choice is judged by: the first day with a build, and all kinds that there are. */
export const KNOWN = {
  days: FIRST_DAY,
  kinds: ask("error_rules")`
select ${rule.class} as kind from ${rule} union select ${kind.error_class} from ${kind}`,
};

/** All questions of the page of errors but those about the lines that are shown. */
export function errorsQuestions(period: Period, choice: ErrorsChoice) {
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
    perKind: ask("error_fingerprints_daily")`
select ${daily.error_class}, count(distinct ${daily.error_fingerprint}) as lines
from ${daily}
where ${within(daily.day, first, last)}
group by ${daily.error_class}`,
    finished: ask("success_rate_daily")`
select sum(${rate.finished}) as finished\nfrom ${rate}\nwhere ${within(rate.day, first, last)}`,
    lines: isAllTime(period) ? askForAllLines(choice) : askForLines(period, choice),
  } satisfies Record<string, Question>;
}

function askForProjects({ first, last }: Period): Question {
  return ask("fact_builds")`
select ${build.error_class}, count(distinct ${build.project_id}) as projects
from ${build}
where ${build.failed} = 1 and ${build.project_id} <> '-1'
  and ${within(build.triggered_on, first, last)}
group by ${build.error_class}`;
}

/** The lines of a period, by its failures. A line has the class of its newest failure. */
function askForLines({ start, first, last }: Period, choice: ErrorsChoice): Question {
  const kind = choice.kind === undefined ? undefined : sql`\n    and ${build.error_class} = ${choice.kind}`;
  const isOfPeriod = sql`${build.triggered_on} >= ${dateOf(first)}`;
  return ask("error_fingerprints")`
select ${line.error_fingerprint}, ${pick(known, "error_class", "example")}, of_period.failures, of_period.failures_before,
  of_period.projects, ${pick(known, "first_triggered_at", "last_triggered_at", "last_build_id")},
  count(*) over () as lines
from (
  select ${build.error_fingerprint},
    count(*) filter (where ${isOfPeriod}) as failures,
    count(*) filter (where ${build.triggered_on} < ${dateOf(first)}) as failures_before,
    count(distinct ${build.project_id})
      filter (where ${isOfPeriod} and ${build.project_id} <> '-1') as projects
  from ${build}
  where ${build.failed} = 1
    and ${within(build.triggered_on, start, last)}${kind}
  group by ${build.error_fingerprint}
) as of_period
join ${known} using (${line.error_fingerprint})
where of_period.failures > 0
${pageOf(choice, choice.sort)}`;
}

function askForAllLines(choice: ErrorsChoice): Question {
  const { kind, sort } = choice;
  return ask("error_fingerprints")`
select ${pick(line, "error_fingerprint", "error_class", "example", "failures")}, null as failures_before, ${line.projects},
  ${pick(line, "first_triggered_at", "last_triggered_at", "last_build_id")}, count(*) over () as lines
from ${line}${where(kind !== undefined && sql`${line.error_class} = ${kind}`)}
${pageOf(choice, sort === "rise" ? "projects" : sort)}`;
}

const pageOf = ({ page }: ErrorsChoice, sort: LineSort): SQL =>
  sql`order by ${LINE_SORTS[sort].order}, ${line.error_fingerprint}
limit ${inline(LINES_PER_PAGE)} offset ${(page - 1) * LINES_PER_PAGE}`;

const toJson = (texts: readonly string[]): string => JSON.stringify(texts);

/** That a failure is of one of these lines. */
const isOneOf = (fingerprints: readonly string[]): SQL =>
  sql`error_fingerprint in (select shown.error_fingerprint from json_array_elements_text(${toJson(fingerprints)}::text::json) as shown (error_fingerprint))`;

/** How often each of the lines failed by day. */
export function askForLineDays({ start, last }: Period, fingerprints: readonly string[]): Question {
  const group = pick(daily, "error_fingerprint", "day");
  return ask("error_fingerprints_daily")`
select ${group}, sum(${daily.failures}) as failures
from ${daily}
where ${within(daily.day, start, last)}
  and ${isOneOf(fingerprints)}
group by ${group}`;
}

/** The projects that each of the lines hit in the period, the latest first. */
export function askForLineProjects({ first, last }: Period, fingerprints: readonly string[]): Question {
  return ask("fact_builds")`
select error_fingerprint, project_slug, version_slug, type, failures, build_id, triggered_at
from (
  select error_fingerprint, project_slug, version_slug, type, build_id, triggered_at,
    count(*) over project as failures, row_number() over newest as place_in_project,
    dense_rank() over line as place
  from (
    select *, max(triggered_at) over (partition by error_fingerprint, project_id) as project_at
    from (
      select ${pick(build, "error_fingerprint", "project_id", "project_slug", "version_slug", "type", "build_id", "triggered_at")}
      from ${build}
      where ${build.failed} = 1 and ${within(build.triggered_on, first, last)} and ${build.project_id} <> '-1'
        and ${isOneOf(fingerprints)}
    ) as failure
  ) as dated
  window project as (partition by error_fingerprint, project_id),
    newest as (partition by error_fingerprint, project_id order by triggered_at desc, build_id desc),
    line as (partition by error_fingerprint order by project_at desc, project_id)
) as placed
where place_in_project = 1 and place <= ${inline(MOST_PROJECTS)}
order by error_fingerprint, place`;
}
