import { asQuestion, columnsOf, type Question } from "../../report/question.ts";
import { statement } from "../parts/questions/statement.ts";

/** The rows of a page of the list. */
export const PROJECTS_PER_PAGE = 25;
/** Builds of a project in its strip. */
export const ROW_STRIP_BUILDS = 30;

/** Which projects of `report.project_states` are listed. */
export const STATES = {
  main: { label: "Main docs fail", which: "whose main docs fail", condition: "state = 'main_failing'" },
  part: {
    label: "Other versions fail",
    which: "of which other versions fail",
    condition: "state = 'failing'",
  },
  good: { label: "Good", which: "that are good", condition: "state = 'good'" },
  unknown: { label: "Not known", which: "of which nothing is known", condition: "state = 'unknown'" },
  stuck: { label: "Stuck builds", which: "with stuck builds", condition: "stuck > 0" },
} as const;

export type State = keyof typeof STATES;

/**
 * What the list is sorted by. The rate is sorted by the upper end of its interval, so that a project with one
 * failed build does not come first.
 */
export const PROJECT_SORTS = {
  last: { order: "last_triggered_at desc nulls last", direction: "descending" },
  name: { order: "lower(project_slug)", direction: "ascending" },
  state: {
    order:
      "array_position(array['main_failing', 'failing', 'unknown', 'good'], state), failing_since desc nulls last",
    direction: "ascending",
  },
  rate: { order: "success_rate_high nulls last, finished desc", direction: "ascending" },
} as const;

export type ProjectSort = keyof typeof PROJECT_SORTS;

export interface ProjectsChoice {
  /** A part of a slug or name. */
  readonly q: string | undefined;
  /** As the reader sent it: it may be no state. */
  readonly state: string | undefined;
  readonly sort: ProjectSort;
  readonly page: number;
}

/** Whether a text names a state. */
export function isState(text: string): text is State {
  return Object.hasOwn(STATES, text);
}

/** One page of the list. */
export function askForProjects(choice: ProjectsChoice): Question {
  return statement("project_states", (hold) =>
    pageOf(choice, "report.project_states", isFound(choice.q, hold), hold),
  );
}

/**
 * One page of the list, and in each of its rows how many projects are in each state: `all_STATE`, and of those
 * that the search finds `found_STATE`. One row of nulls where the page has none. One statement, because the
 * states of all projects take most of its time.
 */
export function askForCountedProjects(choice: ProjectsChoice): Question {
  return statement("project_states", (hold) => {
    const states = [
      ["any", "true"] as const,
      ...Object.entries(STATES).map(([name, { condition }]) => [name, condition] as const),
    ];
    const counts = states.flatMap(([name, condition]) => [
      `count(*) filter (where ${condition}) as all_${name}`,
      `count(*) filter (where ${condition} and is_found) as found_${name}`,
    ]);
    return `with project as materialized (
  select *, ${isFound(choice.q, hold)} as is_found from report.project_states
)
select *
from (
  select ${counts.join(",\n    ")}
  from project
) as counts
left join lateral (
${pageOf(choice, "project", "is_found", hold)}
) as listed on true`;
  });
}

type Hold = (value: string | number) => string;

function pageOf({ q, state, sort, page }: ProjectsChoice, from: string, isFound: string, hold: Hold): string {
  const conditions = [
    ...(q === undefined ? [] : [isFound]),
    ...(state === undefined ? [] : [isState(state) ? STATES[state].condition : "false"]),
  ];
  const where = conditions.length === 0 ? "" : `\nwhere ${conditions.join("\n  and ")}`;
  return `select ${columnsOf("project_states").join(", ")}
from ${from}${where}
order by ${PROJECT_SORTS[sort].order}, project_slug, project_id
limit ${PROJECTS_PER_PAGE} offset ${hold((page - 1) * PROJECTS_PER_PAGE)}`;
}

/** Not LIKE, in which some characters of a name have a meaning. */
function isFound(q: string | undefined, hold: Hold): string {
  if (q === undefined) return "true";
  const part = `lower(${hold(q)})`;
  return `(strpos(lower(project_slug), ${part}) > 0 or strpos(lower(project_name), ${part}) > 0)`;
}

/** The states of the projects with these slugs. */
export function askForSlugs(slugs: readonly string[]): Question {
  return statement(
    "project_states",
    (hold) => `select ${columnsOf("project_states").join(", ")}
from report.project_states
where project_slug in (select json_array_elements_text(${hold(JSON.stringify(slugs))}::text::json))
order by project_slug, project_id`,
  );
}

/**
 * The last outcomes of each project, the oldest first, in one row each. Builds without a date count as the
 * oldest; they have a query of their own, so that the index gives the newest ones of the others.
 */
export function askForProjectStrips(projectIds: readonly string[]): Question {
  const newest = (isDated: string, order: string) => `(
      select build_id, outcome, triggered_at from report.fact_builds as build
      where build.project_id = shown.project_id and triggered_on ${isDated}
      order by ${order}length(build_id) desc, build_id desc
      limit ${ROW_STRIP_BUILDS}
    )`;
  const text = `select shown.project_id, last.outcomes
from json_to_recordset($1::text::json) as shown (project_id text)
cross join lateral (
  select array_agg(outcome order by place desc) as outcomes
  from (
    select outcome, row_number() over (order by triggered_at desc nulls last, length(build_id) desc, build_id desc) as place
    from (${newest("is not null", "triggered_on desc, triggered_at desc, ")}
    union all ${newest("is null", "")}) as build
  ) as newest
  where place <= ${ROW_STRIP_BUILDS}
) as last`;
  return asQuestion("fact_builds", [], text, [asRows(projectIds)]);
}

/** What fails in each of these projects, one row a series. */
export function askForFailing(projectIds: readonly string[]): Question {
  const text = `select failing.project_id, failing.version_id, failing.version_slug, failing.type
from json_to_recordset($1::text::json) as shown (project_id text)
cross join lateral (
  select * from report.failing_now as failing where failing.project_id = shown.project_id limit 50
) as failing`;
  return asQuestion("failing_now", [], text, [asRows(projectIds)]);
}

const asRows = (projectIds: readonly string[]): string =>
  JSON.stringify(projectIds.map((project_id) => ({ project_id })));
