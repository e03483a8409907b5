import { askFor, asQuestion, type Question } from "../../report/question.ts";
import { dayText, type Period } from "../parts/period.ts";
import { askForKinds } from "../parts/questions/kinds-question.ts";
import { statement } from "../parts/questions/statement.ts";

/** Lines of one page of the list. */
export const LINES_PER_PAGE = 20;
/** Failures one by one are looked at for so many days; the lines of a longer period are those of all time. */
export const MOST_FAILURE_DAYS = 92;
/** Projects that are folded below a line. */
export const MOST_PROJECTS = 10;

/** What the lines are sorted by, the largest first. */
export const LINE_SORTS = {
  projects: { head: "Projects", order: "projects desc, failures desc" },
  builds: { head: "Builds", order: "failures desc, projects desc" },
  rise: { head: "Rise", order: "of_period.failures - of_period.failures_before desc, failures desc" },
  newest: { head: "Newest", order: "first_triggered_at desc nulls last, projects desc" },
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

type Hold = (value: string | number) => string;

const dayHeld = (hold: Hold, day: number) => `${hold(dayText(day))}::date`;

const within = (hold: Hold, column: string, first: number, last: number) =>
  `${column} between ${dayHeld(hold, first)} and ${dayHeld(hold, last)}`;

/** All questions of the page of errors but those about the lines that are shown. */
export function errorsQuestions(period: Period, choice: ErrorsChoice) {
  return {
    kinds: askForKinds(period),
    classes: askFor("error_classes"),
    projects: isAllTime(period) ? askFor("error_classes") : askForProjects(period),
    failing: statement(
      "failing_now",
      () => `select error_class, count(distinct project_id) as projects
from report.failing_now
where project_id <> '-1'
group by error_class`,
    ),
    perKind: statement(
      "error_fingerprints_daily",
      (hold) => `select error_class, count(distinct error_fingerprint) as lines
from report.error_fingerprints_daily
where ${within(hold, "day", period.first, period.last)}
group by error_class`,
    ),
    finished: statement(
      "success_rate_daily",
      (hold) =>
        `select sum(finished) as finished\nfrom report.success_rate_daily\nwhere ${within(hold, "day", period.first, period.last)}`,
    ),
    lines: isAllTime(period) ? askForAllLines(choice) : askForLines(period, choice),
  } satisfies Record<string, Question>;
}

function askForProjects({ first, last }: Period): Question {
  return statement(
    "fact_builds",
    (hold) => `select error_class, count(distinct project_id) as projects
from report.fact_builds
where failed = 1 and project_id <> '-1'
  and ${within(hold, "triggered_on", first, last)}
group by error_class`,
  );
}

/** The lines of a period, by its failures. A line has the class of its newest failure. */
function askForLines(period: Period, { kind, sort, page }: ErrorsChoice): Question {
  return statement(
    "error_fingerprints",
    (
      hold,
    ) => `select error_fingerprint, known.error_class, known.example, of_period.failures, of_period.failures_before,
  of_period.projects, known.first_triggered_at, known.last_triggered_at, known.last_build_id,
  count(*) over () as lines
from (
  select error_fingerprint,
    count(*) filter (where triggered_on >= ${dayHeld(hold, period.first)}) as failures,
    count(*) filter (where triggered_on < ${dayHeld(hold, period.first)}) as failures_before,
    count(distinct project_id)
      filter (where triggered_on >= ${dayHeld(hold, period.first)} and project_id <> '-1') as projects
  from report.fact_builds
  where failed = 1
    and ${within(hold, "triggered_on", period.start, period.last)}${kind === undefined ? "" : `\n    and error_class = ${hold(kind)}`}
  group by error_fingerprint
) as of_period
join report.error_fingerprints as known using (error_fingerprint)
where of_period.failures > 0
order by ${orderOf(sort)}
limit ${LINES_PER_PAGE} offset ${hold((page - 1) * LINES_PER_PAGE)}`,
  );
}

function askForAllLines({ kind, sort, page }: ErrorsChoice): Question {
  return statement(
    "error_fingerprints",
    (hold) => `select error_fingerprint, error_class, example, failures, null as failures_before, projects,
  first_triggered_at, last_triggered_at, last_build_id, count(*) over () as lines
from report.error_fingerprints${kind === undefined ? "" : `\nwhere error_class = ${hold(kind)}`}
order by ${orderOf(sort === "rise" ? "projects" : sort)}
limit ${LINES_PER_PAGE} offset ${hold((page - 1) * LINES_PER_PAGE)}`,
  );
}

const orderOf = (sort: LineSort): string => `${LINE_SORTS[sort].order}, error_fingerprint`;

const SHOWN = `json_array_elements_text($1::text::json) as shown (error_fingerprint)`;

/** How often each of the lines failed by day. */
export function askForLineDays(period: Period, fingerprints: readonly string[]): Question {
  const text = `select error_fingerprint, day, sum(failures) as failures
from report.error_fingerprints_daily
where day between $2::date and $3::date
  and error_fingerprint in (select shown.error_fingerprint from ${SHOWN})
group by error_fingerprint, day`;
  const params = [JSON.stringify(fingerprints), dayText(period.start), dayText(period.last)];
  return asQuestion("error_fingerprints_daily", [], text, params);
}

/** The projects that each of the lines hit in the period, the latest first. */
export function askForLineProjects(period: Period, fingerprints: readonly string[]): Question {
  const text = `select error_fingerprint, project_slug, version_slug, type, failures, build_id, triggered_at
from (
  select error_fingerprint, project_slug, version_slug, type, build_id, triggered_at,
    count(*) over project as failures, row_number() over newest as place_in_project,
    dense_rank() over line as place
  from (
    select *, max(triggered_at) over (partition by error_fingerprint, project_id) as project_at
    from (
      select error_fingerprint, project_id, project_slug, version_slug, type, build_id, triggered_at
      from report.fact_builds
      where failed = 1 and triggered_on between $2::date and $3::date and project_id <> '-1'
        and error_fingerprint in (select shown.error_fingerprint from ${SHOWN})
    ) as failure
  ) as dated
  window project as (partition by error_fingerprint, project_id),
    newest as (partition by error_fingerprint, project_id order by triggered_at desc, build_id desc),
    line as (partition by error_fingerprint order by project_at desc, project_id)
) as placed
where place_in_project = 1 and place <= ${MOST_PROJECTS}
order by error_fingerprint, place`;
  const params = [JSON.stringify(fingerprints), dayText(period.first), dayText(period.last)];
  return asQuestion("fact_builds", [], text, params);
}
