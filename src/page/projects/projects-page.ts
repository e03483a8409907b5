import { counted, grouped } from "../../base/text.ts";
import { isStorableId } from "../../resources/record-id.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import {
  askEach,
  type BlockPage,
  block,
  drawBlocks,
  filesOf,
  part,
  type Row,
  renderHead,
} from "../parts/block.ts";
import {
  nearestChoices,
  readPageNumber,
  readText,
  renderChips,
  renderPager,
  renderSearchForm,
} from "../parts/choices.ts";
import type { Address, Drawing } from "../parts/document.ts";
import { foreign, html, type Markup, shorten } from "../parts/html.ts";
import { type Link, type Query, withQuery } from "../parts/links.ts";
import { renderEmpty } from "../parts/notice.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { findNearestProjects } from "../parts/projects.ts";
import { renderListTable } from "../parts/tables.ts";
import {
  findBuildHit,
  findProjectRows,
  type ProjectListRow,
  projectColumns,
  renderBuildHit,
  renderListKey,
} from "./project-rows.ts";
import {
  askForCountedProjects,
  askForProjects,
  askForSlugs,
  isState,
  PROJECT_SORTS,
  PROJECTS_PER_PAGE,
  type ProjectSort,
  type ProjectsChoice,
  STATES,
  type State,
} from "./projects-questions.ts";
import { findSearched } from "./searched.ts";

const PATH = "/projects";

/** How many projects there are, and the build whose id was searched for. */
const head = part({
  asks: ({ choice }: ProjectsScope) => ({ list: askForCountedProjects(choice) }),
  async next(tx, _found, { choice: { q } }) {
    return { build: q !== undefined && isStorableId(q) ? await findBuildHit(tx, q) : undefined };
  },
  draw({ list, build }, { isBuilt, now }) {
    const counts = readCounts(list[0]);
    return html`${renderHead("Projects", sayHowMany(counts, isBuilt))}
${build === undefined ? "" : renderBuildHit(build, now)}`;
  },
});

const projects = block({
  id: "projects",
  narrowedBy: { q: null, state: Object.keys(STATES), sort: Object.keys(PROJECT_SORTS) },
  asks: ({ choice }: ProjectsScope) => ({ list: askForCountedProjects(choice) }),
  file: ({ choice }) => askForProjects(choice),
  async next(tx, { list }, { choice: { q } }) {
    const rows = await findProjectRows(
      tx,
      list.filter(({ project_id }) => project_id !== null),
    );
    const { all, found } = readCounts(list[0]);
    const isUnnamed = q !== undefined && all.any > 0 && found.any === 0;
    return { rows, alike: isUnnamed ? await findAlike(tx, q) : [] };
  },
  draw({ list, rows, alike }, { choice, now }) {
    const counts = readCounts(list[0]);
    return {
      title: titleOf(choice),
      count: grouped(foundBy(choice, counts)),
      body: html`${renderBar(choice, counts)}
${rows.length === 0 ? renderNoMatch(choice, counts, alike, now) : renderList(choice, rows, counts, now)}`,
    };
  },
});

interface ProjectsScope {
  readonly choice: ProjectsChoice;
  /** Whether the mirror knows of builds. */
  readonly isBuilt: boolean;
  readonly now: Date;
}

const PROJECTS: BlockPage<ProjectsScope> = {
  name: "projects",
  layout: [projects],
  kept: ({ choice }) => keptBy(choice),
};

/** The page of projects: how each stands; found by a part of its name, in the reader's order. */
export function projectsPage({ query }: Address): Drawing {
  const given = parse(query);
  /** The choice with what a search that was pasted means. */
  const find = async (tx: TransactionSql, { now, freshness }: PageMoment): Promise<ProjectsScope> => ({
    choice: given.q === undefined ? given : { ...given, q: await findSearched(tx, given.q) },
    isBuilt: !freshness.uncounted.includes("build"),
    now,
  });
  return {
    key: ["projects", given],
    // A name can be looked up where nothing is known of builds.
    needs: ["build", "project"],
    files: filesOf(PROJECTS, find),
    async draw(tx, moment) {
      const scope = await find(tx, moment);
      const { q } = scope.choice;
      const { verdict, draw } = await drawBlocks(tx, PROJECTS, head, scope);
      const main = html`${verdict}
${draw()}`;
      const facts = { title: titleOf(scope.choice), tab: PATH, main } as const;
      return { status: 200, facts: { ...facts, ...(q !== undefined && { searched: q }) } };
    },
  };
}

function parse(query: URLSearchParams): ProjectsChoice {
  const sort = query.get("sort") ?? "";
  return {
    q: readText(query, "q"),
    state: shorten(readText(query, "state") ?? "", 40) || undefined,
    sort: Object.hasOwn(PROJECT_SORTS, sort) ? (sort as ProjectSort) : "last",
    page: readPageNumber(query),
  };
}

interface Counts {
  readonly all: Readonly<Record<State | "any", number>>;
  readonly found: Readonly<Record<State | "any", number>>;
}

function readCounts(row: Row | undefined): Counts {
  const counts = (which: string) => {
    const of = (state: string) => Number(row?.[`${which}_${state}`] ?? 0);
    const states = Object.keys(STATES).map((state) => [state, of(state)]);
    return { any: of("any"), ...(Object.fromEntries(states) as Record<State, number>) };
  };
  return { all: counts("all"), found: counts("found") };
}

function foundBy({ state }: ProjectsChoice, { found }: Counts): number {
  return state === undefined ? found.any : isState(state) ? found[state] : 0;
}

function sayHowMany({ all }: Counts, isBuilt: boolean): string | undefined {
  if (all.any === 0) return undefined;
  if (!isBuilt)
    return `${counted(all.any, "name")}; how each stands is not known, because this mirror holds no builds.`;
  return `${grouped(all.good)} of ${grouped(all.any)} are good: the last finished build of each of their versions and formats succeeded.`;
}

function titleOf({ q, state }: ProjectsChoice): string {
  const which =
    state === undefined
      ? ""
      : isState(state)
        ? ` ${STATES[state].which}`
        : ` that are “${shorten(state, 40)}”`;
  if (q === undefined) return which === "" ? "All projects" : `Projects${which}`;
  return `Projects like “${shorten(q, 60)}”${which}`;
}

/** What every link of the list keeps. The usual order needs no word. */
function keptBy({ q, state, sort }: ProjectsChoice): Query {
  return { q, state, sort: sort === "last" ? undefined : sort };
}

function renderBar(choice: ProjectsChoice, { found }: Counts): Markup {
  const { state: chosen, ...kept } = keptBy(choice);
  const chips = [
    { label: "All", value: undefined, count: found.any },
    ...Object.entries(STATES).map(([value, { label }]) => ({ label, value, count: found[value as State] })),
  ];
  const { q: searched, ...others } = keptBy(choice);
  return html`<div class="bar">${renderChips({ label: "State", path: PATH, name: "state", chosen: choice.state, kept, chips })}
${renderSearchForm({
  path: PATH,
  label: "A part of the name, or a build number",
  placeholder: "Name or build number",
  searched: choice.q,
  kept: others,
})}</div>`;
}

function renderList(
  choice: ProjectsChoice,
  rows: readonly ProjectListRow[],
  counts: Counts,
  now: Date,
): Markup {
  const { sort: by, page } = choice;
  const kept = keptBy(choice);
  return html`${renderListTable({
    caption: titleOf(choice),
    columns: projectColumns(now),
    rows,
    sort: { path: PATH, kept, by, direction: PROJECT_SORTS[by].direction },
  })}
${renderListKey()}
${renderPager({ path: PATH, kept, page, perPage: PROJECTS_PER_PAGE, total: foundBy(choice, counts), noun: "project" })}`;
}

/** Why the list is empty, and where to go on. A choice that leaves nothing says nothing about builds. */
function renderNoMatch(
  choice: ProjectsChoice,
  counts: Counts,
  alike: readonly ProjectListRow[],
  now: Date,
): Markup {
  const { q, state, page } = choice;
  const { all, found } = counts;
  if (all.any === 0)
    return renderEmpty({
      kind: "unknown",
      strong: "No projects.",
      say: "The mirror has none that the service still has.",
    });
  if (page > 1 && foundBy(choice, counts) > 0)
    return renderEmpty({
      kind: "no-match",
      strong: "No such page.",
      say: `There are ${counted(foundBy(choice, counts), "project")} of this choice.`,
      ways: [{ href: withQuery(PATH, keptBy(choice)), words: "The first page" }],
    });
  const isWrongState = state !== undefined && !isState(state);
  const isUnnamed = q !== undefined && found.any === 0;
  const unnamed = isUnnamed ? html`Neither a slug nor a name contains ${foreign(q, 60)}. ` : "";
  return html`${renderEmpty({
    kind: "no-match",
    strong: isWrongState ? "There is no such state." : "No project matches.",
    say: html`${unnamed}That says nothing about builds: all ${counted(all.any, "project")} are outside this choice.`,
    ways: waysOut(choice, counts),
  })}
${
  alike.length === 0
    ? ""
    : html`<h3 class="bucket">Did you mean <span>names that are alike</span></h3>
${renderListTable({ caption: "Projects with names that are alike", columns: projectColumns(now), rows: alike })}`
}`;
}

async function findAlike(tx: TransactionSql, q: string): Promise<ProjectListRow[]> {
  const slugs = await findNearestProjects(tx, q);
  if (slugs.length === 0) return [];
  const { rows } = await askEach(tx, { rows: askForSlugs(slugs) });
  const place = ({ project_slug }: Row) => slugs.indexOf(String(project_slug));
  return findProjectRows(
    tx,
    rows.toSorted((a, b) => place(a) - place(b)),
  );
}

function waysOut({ q, state, sort }: ProjectsChoice, { all, found }: Counts): Link[] {
  const kept = { sort: sort === "last" ? undefined : sort };
  const nearest =
    state === undefined || isState(state)
      ? []
      : nearestChoices(state, Object.keys(STATES) as State[], (name) => STATES[name].label);
  return [
    ...nearest.map((name) => ({
      href: withQuery(PATH, { ...kept, q, state: name }),
      words: `Did you mean ${STATES[name].label}?`,
    })),
    ...(q === undefined
      ? []
      : [{ href: withQuery(PATH, { ...kept, state: isStateOrNone(state) }), words: clearWords(state, all) }]),
    ...(q !== undefined && state !== undefined && found.any > 0
      ? [
          {
            href: withQuery(PATH, { ...kept, q }),
            words: html`${foreign(q, 40)} in any state: ${grouped(found.any)}`,
          },
        ]
      : []),
    { href: withQuery(PATH, kept), words: `All ${counted(all.any, "project")}` },
  ];
}

/** Without the search there is this. */
function clearWords(state: string | undefined, all: Counts["all"]): string {
  if (state === undefined || !isState(state) || all[state] === 0) return "Clear the search";
  return `All ${grouped(all[state])} ${STATES[state].which}`;
}

const isStateOrNone = (state: string | undefined): string | undefined =>
  state !== undefined && isState(state) ? state : undefined;
