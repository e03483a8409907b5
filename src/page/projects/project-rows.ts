import { type SQL, sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { ask, inline, onPage, pick, type Question, relation, where } from "../../report/ask.ts";
import { columnsOf } from "../../report/dictionary.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type Asks, askEach, question } from "../parts/answers.ts";
import { rateDot } from "../parts/changes.ts";
import { mayBeGood, type PageMoment } from "../parts/freshness.ts";
import {
  foreign,
  html,
  joined,
  type Markup,
  shorten,
  slugWords,
  targetWords,
  wholePercent,
} from "../parts/html.ts";
import { projectHref, withQuery } from "../parts/links.ts";
import { age, mark, when } from "../parts/marks.ts";
import { isMine, type Mine } from "../parts/projects.ts";
import {
  drawMainDays,
  drawStrip,
  findMainDays,
  MAIN_DAYS,
  type MainDays,
  type StripRow,
  shownProjects,
} from "../parts/strips.ts";
import { type Column, renderState } from "../parts/tables.ts";

/** A row of `report.project_states`. */
export interface ProjectState {
  readonly project_id: string;
  readonly project_slug: string;
  readonly project_name: string;
  readonly state: string;
  /** The number of series that fail, the moment since which the worst does, and that of the newest. */
  readonly failing: number;
  readonly failing_since: string | null;
  readonly newest_failing_since: string | null;
  readonly stuck: number;
  readonly succeeded: number | null;
  readonly finished: number | null;
  readonly last_triggered_at: string | null;
}

/** A series that fails. */
interface FailingRow {
  readonly project_id: string;
  readonly version_id: string;
  readonly version_slug: string;
  readonly type: string;
}

/** A project, and what its row shows beside. */
export interface ProjectListRow extends ProjectState {
  /** The outcomes of its last builds, the oldest first. */
  readonly outcomes: readonly string[];
  readonly series: readonly FailingRow[];
  readonly days: MainDays;
  /** Another project of the list has its slug. */
  readonly isTwin: boolean;
}

export async function findProjectRows(
  tx: TransactionSql,
  list: readonly ProjectState[],
  at: Date,
): Promise<ProjectListRow[]> {
  if (list.length === 0) return [];
  const idsOf = (rows: readonly ProjectState[]) => rows.map(({ project_id }) => project_id);
  const daysOf = await findMainDays(tx, idsOf(list), at);
  const { strips, failing } = await askEach(tx, {
    strips: PROJECT_STRIPS({ shown: shownProjects(idsOf(list)), places: inline(ROW_STRIP_BUILDS) }),
    failing: FAILING_IN_PROJECTS({
      shown: shownProjects(idsOf(list.filter(({ state }) => state === "failing"))),
    }),
  });
  return list.map((row) => ({
    ...row,
    outcomes: strips.find(({ project_id }) => project_id === row.project_id)?.outcomes ?? [],
    series: failing.filter(({ project_id }) => project_id === row.project_id),
    days: daysOf(row.project_id),
    isTwin: list.some((other) => other !== row && other.project_slug === row.project_slug),
  }));
}

/** The columns of the list of projects. */
export const projectColumns = (moment: PageMoment): Column<ProjectListRow>[] => [
  { head: "Project", isName: true, sort: "name", cell: nameOf },
  {
    head: moment.isNow ? "State" : `State at ${when(moment.at, moment.now)}`,
    sort: "state",
    cell: (row) => stateOf(row, moment),
  },
  {
    head: `Last ${ROW_STRIP_BUILDS} builds`,
    cell: ({ outcomes, project_slug }) => drawStrip(outcomes, shorten(project_slug, 60), ROW_STRIP_BUILDS),
  },
  { head: "Succeeded", sort: "rate", cell: rateDot },
  {
    head: `Main docs, ${MAIN_DAYS} days`,
    place: "wide",
    label: `main docs, ${MAIN_DAYS} days`,
    cell: ({
      project_slug,
      days,
    }) => html`<small>${days.finished === 0 ? "none finished" : `${wholePercent(days.succeeded / days.finished)} of ${grouped(days.finished)}`}</small>
      ${drawMainDays(days, shorten(project_slug, 60))}`,
  },
  {
    head: "Last build",
    isNumber: true,
    place: "wide",
    sort: "last",
    cell: ({ last_triggered_at }) => age(last_triggered_at, moment.now),
  },
];

function nameOf({ project_id, project_slug: slug, project_name, isTwin }: ProjectListRow): Markup {
  const href = withQuery(projectHref(slug), { id: isTwin ? project_id : undefined });
  const name = project_name !== slug && foreign(project_name, 60);
  const id = isTwin && html`id ${foreign(project_id, 24)}`;
  return html`<a href="${href}">${slugWords(slug)}</a>${(name || id) && html`<small>${joined([name, id], ", ")}</small>`}`;
}

function stateOf(row: ProjectListRow, moment: PageMoment): Markup {
  const [sign, words, ...more] = describe(row, moment);
  const notes = [...more, row.stuck > 0 && `${row.stuck} stuck`].filter(Boolean);
  return renderState(sign, html`${words}${notes.length > 0 && html` <small>${joined(notes, ", ")}</small>`}`);
}

function describe(
  row: ProjectListRow,
  moment: PageMoment,
): [sign: Markup, words: string, ...notes: (Markup | string | false | null)[]] {
  // As old as what is worst in it.
  const { now } = moment;
  const since = row.failing_since !== null && age(row.failing_since, now);
  const isOlder = row.newest_failing_since !== row.failing_since;
  const newest = isOlder && html`newest ${age(row.newest_failing_since, now)}`;
  switch (row.state) {
    case "main_failing": {
      const others = row.failing - 1;
      return [mark("bad", "failing"), "Main docs fail", since, others > 0 && `${others} more`, newest];
    }
    case "failing":
      return [mark("bad2", "failing in part"), partWords(row), since, newest];
    case "good":
      return mayBeGood(moment)
        ? [mark("good", "succeeded"), "Good"]
        : [mark("flat", "succeeded"), "Was good"];
    default:
      return [mark("idle", "state"), "Not known", "no finished build"];
  }
}

/** The failing series in few words: it where it is one, else how many versions or formats. */
function partWords({ failing: count, series }: ProjectListRow): string {
  const [first] = series;
  if (count === 1 && first) return `${targetWords(first)} fails`;
  const versions = new Set(series.map(({ version_id }) => version_id)).size;
  return `${counted(count, versions === count ? "version" : "format")} fail`;
}

const project = relation("project_states");

/** The rows of a page of the list. */
export const PROJECTS_PER_PAGE = 25;
/** Builds of a project in its strip. */
const ROW_STRIP_BUILDS = 30;

const state = (label: string, which: string, condition: SQL) => ({ label, which, condition });

/** The choices among the projects of `report.project_states`. `counted_projects.sql` counts those of each. */
export const STATES = {
  main: state("Main docs fail", "with failing main docs", sql`${project.state} = 'main_failing'`),
  part: state(
    "Other versions or formats fail",
    "with other failing versions or formats",
    sql`${project.state} = 'failing'`,
  ),
  good: state("Good", "in good state", sql`${project.state} = 'good'`),
  unknown: state("Not known", "of which nothing is known", sql`${project.state} = 'unknown'`),
  stuck: state("Stuck builds", "with stuck builds", sql`${project.stuck} > 0`),
};

export type State = keyof typeof STATES;

/**
 * The orders of the list. The rate is sorted by the upper end of its interval, so that a project with one
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

type ProjectSort = keyof typeof PROJECT_SORTS;

export interface ProjectsChoice {
  /** A part of a slug or name. */
  readonly q: string | undefined;
  /** As the reader sent it: it may be no state. */
  readonly state: string | undefined;
  readonly sort: ProjectSort;
  readonly page: number;
  /** The maintainer whose projects are listed. @default all */
  readonly mine?: Mine | undefined;
}

export const isState = (text: string | undefined): text is State =>
  text !== undefined && Object.hasOwn(STATES, text);

/** The list; on a page a part of it. */
export function askForProjects(choice: ProjectsChoice): Question {
  return ask`${pageOf(choice, project, isFound(choice), isMine(project.project_id, choice.mine))}`;
}

/** A project with the counts of all; nulls in place of the project where the page has none. */
export type CountedProject = { readonly [Name in keyof ProjectState]: ProjectState[Name] | null } & {
  readonly [Name in `${"all" | "found"}_${State | "any"}`]: number;
};

const COUNTED_PROJECTS = question<CountedProject>("counted_projects", import.meta.url);

/**
 * One page of the list, and in each of its rows how many projects are in each state: `all_STATE` of all, or of all of the
 * maintainer, and of those that the search finds `found_STATE`. One row of nulls where the page has none. One statement, because the
 * states of all projects take most of its time.
 */
export const askForCountedProjects = (choice: ProjectsChoice): Asks<CountedProject> =>
  COUNTED_PROJECTS({
    is_found: isFound(choice) || sql`true`,
    of_mine: where(isMine(project.project_id, choice.mine)),
    page: pageOf(choice, sql`project`, choice.q !== undefined && sql`is_found`),
  });

function pageOf({ state, sort, page }: ProjectsChoice, from: SQL, ...isFound: (SQL | false)[]): SQL {
  const isChosen = state !== undefined && (isState(state) ? STATES[state].condition : sql`false`);
  return sql`select ${pick(project, ...columnsOf("project_states"))}
from ${from}${where(...isFound, isChosen)}
order by ${PROJECT_SORTS[sort].order}, ${pick(project, "project_slug", "project_id")}${onPage`
limit ${inline(PROJECTS_PER_PAGE)} offset ${(page - 1) * PROJECTS_PER_PAGE}`}`;
}

/** Not LIKE, in which some characters of a name have a meaning. False without a search. */
function isFound({ q }: ProjectsChoice): SQL | false {
  if (q === undefined) return false;
  const hasPart = (column: SQL) => sql`strpos(lower(${column}), lower(${q})) > 0`;
  return sql`(${hasPart(project.project_slug)} or ${hasPart(project.project_name)})`;
}

/** The last outcomes of each project, the oldest first, in one row each. */
const PROJECT_STRIPS = question<StripRow & { readonly project_id: string }>(
  "project_strips",
  import.meta.url,
);

/** The series that fail in each of some projects. */
const FAILING_IN_PROJECTS = question<FailingRow>("failing_in_projects", import.meta.url);
