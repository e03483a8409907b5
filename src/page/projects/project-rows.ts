import { type SQL, sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { ask, askFor, inline, onPage, pick, type Question, relation, where } from "../../report/ask.ts";
import { columnsOf } from "../../report/dictionary.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach, type Row } from "../parts/answers.ts";
import { rateDot } from "../parts/changes.ts";
import { foreign, html, type Markup, shorten, slugWords, targetWords, wholePercent } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import { buildHref, projectHref, projectLink, withQuery } from "../parts/links.ts";
import { age, agoWords, mark, outcomeMark, outcomeSign } from "../parts/marks.ts";
import { isMine, type Mine } from "../parts/projects.ts";
import {
  drawMainDays,
  drawStrip,
  findMainDays,
  MAIN_DAYS,
  type MainDays,
  shownProjects,
} from "../parts/strips.ts";
import type { Column } from "../parts/tables.ts";

/** A project with what stands in its row. */
export interface ProjectListRow {
  /** A row of `report.project_states`. */
  readonly row: Row;
  /** The outcomes of its last builds, the oldest first. */
  readonly outcomes: readonly string[];
  /** Rows of `report.failing_now`: what fails in it. */
  readonly failing: readonly Row[];
  readonly days: MainDays;
  /** Another project of the list has its slug. */
  readonly isTwin: boolean;
}

/** The strips and the failures of the listed projects. */
export async function findProjectRows(
  tx: TransactionSql,
  list: readonly Row[],
  at: Date,
): Promise<ProjectListRow[]> {
  if (list.length === 0) return [];
  const idsOf = (rows: readonly Row[]) => rows.map(({ project_id }) => String(project_id));
  const days = await findMainDays(tx, idsOf(list), at);
  const { strips, failing } = await askEach(tx, {
    strips: askForProjectStrips(idsOf(list)),
    failing: askForFailing(idsOf(list.filter(({ state }) => state === "failing"))),
  });
  const outcomes = new Map(strips.map((strip) => [strip.project_id, strip.outcomes as string[] | null]));
  return list.map((row) => ({
    row,
    outcomes: outcomes.get(row.project_id) ?? [],
    failing: failing.filter(({ project_id }) => project_id === row.project_id),
    days: days(row.project_id),
    isTwin: list.some((other) => other !== row && other.project_slug === row.project_slug),
  }));
}

/** The columns of the list of projects. */
export function projectColumns(now: Date): Column<ProjectListRow>[] {
  return [
    { head: "Project", isName: true, sort: "name", cell: nameOf },
    { head: "State", sort: "state", cell: ({ row, failing }) => stateOf(row, failing, now) },
    {
      head: `Last ${ROW_STRIP_BUILDS} builds`,
      cell: ({ row, outcomes }) =>
        drawStrip(outcomes, shorten(String(row.project_slug), 60), ROW_STRIP_BUILDS),
    },
    {
      head: "Succeeded",
      sort: "rate",
      cell: ({ row }) => rateDot(Number(row.succeeded), Number(row.finished)),
    },
    {
      head: `Main docs, ${MAIN_DAYS} days`,
      isWide: true,
      label: `main docs, ${MAIN_DAYS} days`,
      cell: ({ row, days }) => html`${drawMainDays(days, shorten(String(row.project_slug), 60))}
        <small>${days.finished === 0 ? "none finished" : `${wholePercent(days.succeeded / days.finished)} of ${grouped(days.finished)}`}</small>`,
    },
    {
      head: "Last build",
      isNumber: true,
      isWide: true,
      label: "last build",
      sort: "last",
      cell: ({ row }) => age(row.last_triggered_at, now),
    },
  ];
}

function nameOf({ row, isTwin }: ProjectListRow): Markup {
  const slug = String(row.project_slug);
  const href = isTwin ? withQuery(projectHref(slug), { id: String(row.project_id) }) : projectHref(slug);
  const name = row.project_name === slug ? "" : foreign(String(row.project_name), 60);
  const id = isTwin ? html`${name === "" ? "" : ", "}id ${foreign(String(row.project_id), 24)}` : "";
  return html`<a href="${href}">${slugWords(slug)}</a>${name === "" && id === "" ? "" : html`<small>${name}${id}</small>`}`;
}

function stateOf(row: Row, failing: readonly Row[], now: Date): Markup {
  const [sign, words, ...more] = describe(row, failing, now);
  const stuck = Number(row.stuck);
  const notes = [...more, stuck > 0 && `${stuck} stuck`].filter(Boolean).join(", ");
  return html`<span class="state">${sign}<span>${words}${notes === "" ? "" : html` <small>${notes}</small>`}</span></span>`;
}

function describe(
  row: Row,
  failing: readonly Row[],
  now: Date,
): [sign: Markup, words: string, ...notes: (string | false | null)[]] {
  // As old as what is worst in it.
  const since = agoWords(row.failing_since, now);
  const isOlder = row.newest_failing_since !== row.failing_since;
  const newest = isOlder && `newest ${agoWords(row.newest_failing_since, now)}`;
  switch (row.state) {
    case "main_failing": {
      const others = Number(row.failing) - 1;
      return [mark("bad", "failing"), "Main docs fail", since, others > 0 && `${others} more`, newest];
    }
    case "failing":
      return [mark("bad2", "failing in part"), partWords(row, failing), since, newest];
    case "good":
      return [mark("good", "succeeded"), "Good"];
    default:
      return [mark("idle", "state"), "Not known", "no finished build"];
  }
}

/** What fails, in few words: the series where it is one, else how many versions or formats. */
function partWords(row: Row, failing: readonly Row[]): string {
  const count = Number(row.failing);
  const [first] = failing;
  if (count === 1 && first) return `${targetWords(first.version_slug, first.type)} fails`;
  const versions = new Set(failing.map(({ version_id }) => version_id)).size;
  return versions === count ? `${counted(count, "version")} fail` : `${counted(count, "format")} fail`;
}

const build = relation("fact_builds");

/** The build whose id was searched for, if there is one. */
export async function findBuildHit(tx: TransactionSql, id: string): Promise<Row | undefined> {
  const { rows } = await askEach(tx, {
    rows: askFor("fact_builds", { limit: 1 }, [sql`${build.build_id} = ${id}`]),
  });
  return rows[0];
}

/** A build that was searched for, with the link to its page. */
export function renderBuildHit(row: Row, now: Date): Markup {
  const id = String(row.build_id);
  const why = row.error_class === null ? "" : html`, ${kindLabel(row.error_class)}`;
  return html`<section class="block hit" id="build" aria-labelledby="build-t">
${outcomeSign(row.outcome)} <h2 id="build-t"><a href="${buildHref(id)}">Build ${foreign(id, 24)}</a></h2>
<p class="note">${outcomeMark(row.outcome).word}${why}
  · ${targetWords(row.version_slug, row.type)} of ${projectLink(row.project_slug)} · ${age(row.triggered_at, now)} ago</p>
</section>`;
}

/** What the strips and the rates of a list mean. */
export function renderListKey(): Markup {
  return html`<p class="key"><span>
    <svg class="wl" width="24" height="22" viewBox="0 0 24 22" aria-hidden="true">
    <path class="axis" d="M0 11H24"/><path class="up" d="M2 10V4M7 10V4M17 10V4"/>
    <path class="down" d="M12 12v8"/><path class="mid" d="M22 9.5v3"/></svg>up: succeeded, down: failed, on
    the line: not finished; the newest at the right. By day: the line alone is a day without builds, no line one that is not
    known; the share is that of finished builds</span>
    <span><svg width="44" height="12" aria-hidden="true"><path class="wh-axis" d="M0 6H44"/>
    <path class="wh-range" d="M12 6H34"/><circle class="wh-dot" cx="26" cy="6" r="3.4"/></svg>share that
    succeeded, of all time, and how sure it is: few builds, long bar</span></p>`;
}

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
