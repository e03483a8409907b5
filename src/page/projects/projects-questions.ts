import { type SQL, sql } from "drizzle-orm";
import { ask, inline, onPage, pick, type Question, relation, where } from "../../report/ask.ts";
import { columnsOf } from "../../report/dictionary.ts";
import { shownProjects } from "../parts/main-days.ts";
import { isMine, type Mine } from "../parts/projects.ts";

const project = relation("project_states");
const failing = relation("failing_now", "failing");

/** The rows of a page of the list. */
export const PROJECTS_PER_PAGE = 25;
/** Builds of a project in its strip. */
export const ROW_STRIP_BUILDS = 30;

const state = (label: string, which: string, condition: SQL) => ({ label, which, condition });

/** Which projects of `report.project_states` are listed. */
export const STATES = {
  main: state("Main docs fail", "whose main docs fail", sql`${project.state} = 'main_failing'`),
  part: state("Other versions fail", "of which other versions fail", sql`${project.state} = 'failing'`),
  good: state("Good", "that are good", sql`${project.state} = 'good'`),
  unknown: state("Not known", "of which nothing is known", sql`${project.state} = 'unknown'`),
  stuck: state("Stuck builds", "with stuck builds", sql`${project.stuck} > 0`),
};

export type State = keyof typeof STATES;

/**
 * What the list is sorted by. The rate is sorted by the upper end of its interval, so that a project with one
 * failed build does not come first.
 */
export const PROJECT_SORTS = {
  last: { order: sql`${project.last_triggered_at} desc nulls last`, direction: "descending" },
  name: { order: sql`lower(${project.project_slug})`, direction: "ascending" },
  state: {
    order: sql`array_position(array['main_failing', 'failing', 'unknown', 'good'], ${project.state}), ${project.newest_failing_since} desc nulls last`,
    direction: "ascending",
  },
  rate: {
    order: sql`${project.success_rate_high} nulls last, ${project.finished} desc`,
    direction: "ascending",
  },
} as const;

export type ProjectSort = keyof typeof PROJECT_SORTS;

export interface ProjectsChoice {
  /** A part of a slug or name. */
  readonly q: string | undefined;
  /** As the reader sent it: it may be no state. */
  readonly state: string | undefined;
  readonly sort: ProjectSort;
  readonly page: number;
  /** Whose projects are listed. @default all */
  readonly mine?: Mine | undefined;
}

/** Whether a text names a state. */
export function isState(text: string): text is State {
  return Object.hasOwn(STATES, text);
}

/** The list; on a page a part of it. */
export function askForProjects(choice: ProjectsChoice): Question {
  return ask("project_states")`${pageOf(choice, project, isFound(choice))}`;
}

/**
 * One page of the list, and in each of its rows how many projects are in each state: `all_STATE`, and of those
 * that the search finds `found_STATE`. One row of nulls where the page has none. One statement, because the
 * states of all projects take most of its time.
 */
export function askForCountedProjects(choice: ProjectsChoice): Question {
  const counts = Object.entries({ any: { condition: sql`true` }, ...STATES }).map(
    ([name, { condition }]) => sql`count(*) filter (where ${condition}) as all_${sql.raw(name)},
    count(*) filter (where ${condition} and is_found) as found_${sql.raw(name)}`,
  );
  return ask("project_states")`
with project as materialized (
  select *, ${isFound(choice)} as is_found from ${project}
)
select *
from (
  select ${sql.join(counts, sql`,\n    `)}
  from project
) as counts
left join lateral (
${pageOf(choice, sql`project`, sql`is_found`)}
) as listed on true`;
}

function pageOf({ q, mine, state, sort, page }: ProjectsChoice, from: SQL, isFound: SQL): SQL {
  const isChosen = state !== undefined && (isState(state) ? STATES[state].condition : sql`false`);
  return sql`select ${pick(project, ...columnsOf("project_states"))}
from ${from}${where((q ?? mine) !== undefined && isFound, isChosen)}
order by ${PROJECT_SORTS[sort].order}, ${pick(project, "project_slug", "project_id")}${onPage`
limit ${inline(PROJECTS_PER_PAGE)} offset ${(page - 1) * PROJECTS_PER_PAGE}`}`;
}

/** Not LIKE, in which some characters of a name have a meaning. */
function isFound({ q, mine }: ProjectsChoice): SQL {
  const isOwn = isMine(project.project_id, mine) || sql`true`;
  if (q === undefined) return isOwn;
  const hasPart = (column: SQL) => sql`strpos(lower(${column}), lower(${q})) > 0`;
  return sql`(${hasPart(project.project_slug)} or ${hasPart(project.project_name)}) and ${isOwn}`;
}

/** The states of the projects with these slugs. */
export function askForSlugs(slugs: readonly string[]): Question {
  return ask("project_states")`
select ${pick(project, ...columnsOf("project_states"))}
from ${project}
where ${project.project_slug} in (select json_array_elements_text(${JSON.stringify(slugs)}::text::json))
order by ${pick(project, "project_slug", "project_id")}`;
}

/**
 * The last outcomes of each project, the oldest first, in one row each. Builds without a date count as the
 * oldest; they have a query of their own, so that the index gives the newest ones of the others.
 */
export function askForProjectStrips(projectIds: readonly string[]): Question {
  const build = relation("fact_builds");
  const byId = sql`length(${build.build_id}) desc, ${build.build_id} desc`;
  const newest = (isDated: SQL, order?: SQL) => sql`(
      select ${pick(build, "build_id", "outcome", "triggered_at")} from ${build} as build
      where build.${build.project_id} = shown.project_id and ${build.triggered_on} ${isDated}
      order by ${order}${byId}
      limit ${inline(ROW_STRIP_BUILDS)}
    )`;
  return ask("fact_builds")`
select shown.project_id, last.outcomes
from ${shownProjects(projectIds)}
cross join lateral (
  select array_agg(outcome order by place desc) as outcomes
  from (
    select outcome, row_number() over (order by triggered_at desc nulls last, ${byId}) as place
    from (${newest(sql`is not null`, sql`${build.triggered_on} desc, ${build.triggered_at} desc, `)}
    union all ${newest(sql`is null`)}) as build
  ) as newest
  where place <= ${inline(ROW_STRIP_BUILDS)}
) as last`;
}

/** What fails in each of these projects, one row a series. */
export function askForFailing(projectIds: readonly string[]): Question {
  return ask("failing_now")`
select ${pick(failing, "project_id", "version_id", "version_slug", "type")}
from ${shownProjects(projectIds)}
cross join lateral (
  select * from ${failing} where ${failing.project_id} = shown.project_id limit 50
) as failing`;
}
