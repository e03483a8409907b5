import { allOf, counted, grouped } from "../../base/text.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type Asks, askEach, question } from "../parts/answers.ts";
import {
  type BlockPage,
  block,
  drawBlocks,
  filesOf,
  part,
  renderHead,
  renderNoRows,
} from "../parts/block.ts";
import { type Build, findBuild } from "../parts/builds.ts";
import type { Address, Draft, Drawing, Verdict } from "../parts/document.ts";
import { mayBeGood, type PageMoment } from "../parts/freshness.ts";
import { foreign, html, type Markup, shorten, targetWords } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import {
  buildHref,
  type Chip,
  keptFields,
  type Link,
  meantLinks,
  nearestChoices,
  projectLink,
  type Query,
  readOneOf,
  readPageNumber,
  readText,
  renderChips,
  renderPager,
  withQuery,
} from "../parts/links.ts";
import { ago, outcomeMark, outcomeSign, when } from "../parts/marks.ts";
import {
  findMine,
  findNearestProjects,
  type Mine,
  maintainerHref,
  mineWords,
  renderMine,
} from "../parts/projects.ts";
import { renderListTable } from "../parts/tables.ts";
import {
  askForCountedProjects,
  askForProjects,
  type CountedProject,
  findProjectRows,
  isState,
  PROJECT_SORTS,
  PROJECTS_PER_PAGE,
  type ProjectListRow,
  type ProjectState,
  type ProjectsChoice,
  projectColumns,
  STATES,
  type State,
} from "./project-rows.ts";
import { findSearched } from "./searched.ts";

const PATH = "/projects";
const STATE_NAMES = Object.keys(STATES) as State[];

/** The number of projects, or how those of a maintainer stand; and the build and the person of the name that was searched for. */
const head = part({
  asks: ({ choice }: ProjectsScope) => ({ list: askForCountedProjects(choice) }),
  async draw({ list: [first] }, scope, _said, tx): Promise<Draft> {
    const { now, choice } = scope;
    const { q, mine } = choice;
    const count = countsOf(first);
    const build = q && (await findBuild(tx, q));
    const person = await findMine(tx, q);
    const hits = html`${build && renderBuildHit(build, now)}${person?.count ? renderPersonHit(person) : ""}`;
    return mine === undefined
      ? {
          title: titleOf(choice),
          main: html`${renderHead("Projects", sayHowMany(count, scope)?.join(" "))}
${hits}`,
        }
      : { verdict: judgeMine(mine, count, scope), main: hits };
  },
});

/** How the projects of a maintainer stand, whatever is searched for among them. */
function judgeMine(mine: Mine, count: Counts, scope: ProjectsScope): Verdict {
  const say = sayHowMany(count, scope);
  const title = `Projects${whoseWords(mine)}`;
  if (say === undefined) return { title, look: "idle", sentence: mineWords(mine) };
  const bad = (["main", "part", "unknown"] as const).flatMap((state) =>
    count("all", state) === 0 ? [] : `${grouped(count("all", state))} ${STATES[state].which}`,
  );
  const fails = count("all", "main") + count("all", "part") > 0;
  const look = fails ? "some" : bad.length === 0 && mayBeGood(scope) ? "good" : "idle";
  const [sentence = "", ...evidence] = say;
  return {
    title: `${{ some: "✗ ", good: "✓ ", idle: "" }[look]}${title}`,
    look,
    sentence,
    evidence: [bad.length > 0 && `${bad.join(", ")}.`, ...evidence].filter(Boolean).join(" "),
  };
}

const projects = block({
  id: "projects",
  narrowedBy: { q: null, maintainer: null, state: STATE_NAMES, sort: Object.keys(PROJECT_SORTS) },
  asks: ({ choice }: ProjectsScope) => ({ list: askForCountedProjects(choice) }),
  file: ({ choice }) => askForProjects(choice),
  async draw({ list }, scope, _said, tx) {
    const { choice, at } = scope;
    const { q } = choice;
    const count = countsOf(list[0]);
    const rows = await findProjectRows(tx, list.filter(isProject), at);
    const isUnnamed = q !== undefined && count("all") > 0 && count("found") === 0;
    const alike = isUnnamed ? await findAlike(tx, q, at) : [];
    const total = foundBy(choice, count);
    return {
      title: titleOf(choice),
      count: grouped(total),
      body: html`${renderMine(choice.mine, withQuery(PATH, { ...keptBy(choice), maintainer: undefined }))}
${renderBar(choice, count)}
${rows.length === 0 ? renderNoMatch(scope, count, alike) : renderList(scope, rows, total)}`,
    };
  },
});

const isProject = (row: CountedProject): row is CountedProject & ProjectState => row.project_id !== null;

/** A build that was searched for, with the link to its page. */
const renderBuildHit = (
  build: Build,
  now: Date,
): Markup => html`<section class="block hit" id="build" aria-labelledby="build-t">
${outcomeSign(build.outcome)} <h2 id="build-t"><a href="${buildHref(build.build_id)}">Build ${foreign(build.build_id, 24)}</a></h2>
<p class="note">${outcomeMark(build.outcome)[1]}${build.error_class !== null && `, ${kindLabel(build.error_class)}`}
  · ${targetWords(build)} of ${projectLink(build.project_slug)} · ${ago(build.triggered_at, now) ?? "of no known date"}</p>
</section>`;

/** A person of the name that was searched for. */
const renderPersonHit = ({ maintainer, count }: Mine): Markup => html`<section class="block hit" id="person">
<p><a href="${maintainerHref(maintainer)}">${foreign(maintainer, 60)}</a> maintains ${counted(count, "project")}.</p>
</section>`;

interface ProjectsScope extends PageMoment {
  readonly choice: ProjectsChoice;
}

const PROJECTS: BlockPage<ProjectsScope> = {
  name: "projects",
  layout: [projects],
  narrowedBy: {},
  kept: ({ choice }) => keptBy(choice),
};

/** The page of projects: how each stands; found by a part of its name, in the reader's order. */
export function projectsPage({ query }: Address): Drawing {
  const given = parse(query);
  const maintainer = readText(query, "maintainer");
  /** The choice with what a search that was pasted means. */
  const find = async (tx: TransactionSql, moment: PageMoment): Promise<ProjectsScope> => ({
    ...moment,
    choice: {
      ...given,
      q: given.q && (await findSearched(tx, given.q)),
      mine: await findMine(tx, maintainer),
    },
  });
  return {
    key: ["projects", given, maintainer],
    // A name can be looked up where nothing is known of builds.
    needs: ["build", "project"],
    files: filesOf(PROJECTS, find),
    async draw(tx, moment) {
      const scope = await find(tx, moment);
      const { verdict, draw } = await drawBlocks(tx, PROJECTS, head, scope);
      const main = html`${verdict.main}
${await draw(undefined)}`;
      return { ...verdict, main, tab: PATH, searched: scope.choice.q };
    },
  };
}

const parse = (query: URLSearchParams): ProjectsChoice => ({
  q: readText(query, "q"),
  state: shorten(readText(query, "state") ?? "", 40) || undefined,
  sort: readOneOf(query, "sort", PROJECT_SORTS) ?? "last",
  page: readPageNumber(query),
});

/** The number of projects in a state, or in any: of all, or of those that the search finds. */
type Counts = (which: "all" | "found", state?: State | "any") => number;

const countsOf =
  (row: CountedProject | undefined): Counts =>
  (which, state = "any") =>
    row?.[`${which}_${state}`] ?? 0;

const foundBy = ({ state }: ProjectsChoice, count: Counts): number =>
  state === undefined ? count("found") : isState(state) ? count("found", state) : 0;

/** How many are good, of all or of all of a maintainer, and what that means; undefined where there are none. */
function sayHowMany(
  count: Counts,
  { choice: { mine }, isNow, at, now, freshness }: ProjectsScope,
): readonly [sentence: string, meaning?: string] | undefined {
  const all = count("all");
  const whose = whoseWords(mine);
  if (all === 0) return undefined;
  if (freshness.uncounted.includes("build"))
    return [
      `${counted(all, "name")}${whose}; how each stands is not known, because this mirror holds no builds.`,
    ];
  const good = count("all", "good");
  const isOne = good === 1 || (good === 0 && all === 1);
  const [one, many, then] = isNow ? ["is", "are", ""] : ["was", "were", ` at ${when(at, now)}`];
  const of = `${good === 0 ? "None" : grouped(good)} of ${counted(all, "project")}${whose}`;
  return [
    `${of} ${isOne ? one : many} good${then}.`,
    "Good means that the last finished build of each version and format succeeded.",
  ];
}

const whoseWords = (mine: Mine | undefined): string =>
  mine === undefined ? "" : ` of ${shorten(mine.maintainer, 60)}`;

function titleOf({ q, state, mine }: ProjectsChoice): string {
  const words = `Projects${whoseWords(mine)}${q === undefined ? "" : ` like “${shorten(q, 60)}”`}`;
  if (isState(state)) return `${words} ${STATES[state].which}`;
  if (state !== undefined) return `${words} that are “${shorten(state, 40)}”`;
  return q === undefined && mine === undefined ? "All projects" : words;
}

/** The choice as every link of the list keeps it. The usual order needs no word. */
const keptBy = ({ q, state, sort, mine }: ProjectsChoice) => ({
  q,
  state,
  maintainer: mine?.maintainer,
  sort: sort === "last" ? undefined : sort,
});

function renderBar(choice: ProjectsChoice, count: Counts): Markup {
  const { q, state, ...kept } = keptBy(choice);
  const chips: Chip<string | undefined>[] = [
    [undefined, "All", count("found")],
    ...STATE_NAMES.map((one) => [one, STATES[one].label, count("found", one)] as const),
  ];
  return html`<div class="bar">${renderChips("State", chips, state, (state) => withQuery(PATH, { q, ...kept, state }))}
${renderSearchForm(PATH, q, { state, ...kept })}</div>`;
}

/** The meaning of the strips and the rates of a list. */
const KEY = html`<p class="key"><span>
    <svg class="wl" width="24" height="22" viewBox="0 0 24 22" aria-hidden="true">
    <path class="axis" d="M0 11H24"/><path class="up" d="M2 10V4M7 10V4M17 10V4"/>
    <path class="down" d="M12 12v8"/><path class="mid" d="M22 9.5v3"/></svg>up: succeeded, down: failed, on
    the line: not finished; the newest at the right. By day: the line alone is a day without builds, a dotted line one that is not
    known; the share is that of finished builds</span>
    <span><svg width="44" height="12" aria-hidden="true"><path class="wh-axis" d="M0 6H44"/>
    <path class="wh-range" d="M12 6H34"/><circle class="wh-dot" cx="26" cy="6" r="3.4"/></svg>share of all
    known builds that succeeded, and how sure it is: few builds, long bar</span></p>`;

function renderList(scope: ProjectsScope, rows: readonly ProjectListRow[], total: number) {
  const { choice } = scope;
  const { sort: by, page } = choice;
  const kept = keptBy(choice);
  return html`${renderListTable({
    caption: titleOf(choice),
    columns: projectColumns(scope),
    rows,
    sort: { path: PATH, kept, by, direction: PROJECT_SORTS[by].direction },
  })}
${KEY}
${renderPager({ path: PATH, kept, page, perPage: PROJECTS_PER_PAGE, total, noun: "project" })}`;
}

/** Says why the list is empty, with links to go on by. A choice that leaves nothing says nothing about builds. */
function renderNoMatch(scope: ProjectsScope, count: Counts, alike: readonly ProjectListRow[]) {
  const { choice } = scope;
  const { q, state, page, mine } = choice;
  const all = count("all");
  if (all === 0)
    return mine === undefined
      ? renderNoRows("unknown", "No projects.", "The mirror has none that the service still has.")
      : renderNoRows("no-match", "No project matches.", "That says nothing about builds.");
  const total = foundBy(choice, count);
  if (page > 1 && total > 0)
    return renderNoRows("no-match", "No such page.", `This choice has ${counted(total, "project")}.`, [
      { href: withQuery(PATH, keptBy(choice)), words: "The first page" },
    ]);
  const strong = state === undefined || isState(state) ? "No project matches." : "There is no such state.";
  const unnamed =
    q !== undefined && count("found") === 0 && html`Neither a slug nor a name contains ${foreign(q, 60)}. `;
  const say = html`${unnamed}That says nothing about builds: ${counted(all, "project is", "projects are")} outside this choice.`;
  return html`${renderNoRows("no-match", strong, say, waysOut(choice, count))}
${
  alike.length > 0 &&
  html`<h3 class="bucket">Did you mean <span>names that are alike</span></h3>
${renderListTable({ caption: "Projects with names that are alike", columns: projectColumns(scope), rows: alike })}`
}`;
}

const PROJECTS_OF_SLUGS = question<ProjectState>("projects_of_slugs", import.meta.url);

/** The states of the projects with these slugs. */
const askForSlugs = (slugs: readonly string[]): Asks<ProjectState> =>
  PROJECTS_OF_SLUGS({ slugs: JSON.stringify(slugs) });

async function findAlike(tx: TransactionSql, q: string, at: Date): Promise<ProjectListRow[]> {
  const slugs = await findNearestProjects(tx, q);
  const { rows } = await askEach(tx, { rows: slugs.length === 0 ? null : askForSlugs(slugs) });
  const place = ({ project_slug }: ProjectState) => slugs.indexOf(project_slug);
  return findProjectRows(
    tx,
    rows.toSorted((a, b) => place(a) - place(b)),
    at,
  );
}

function waysOut(choice: ProjectsChoice, count: Counts): Link[] {
  const { q, state } = choice;
  const { sort, maintainer } = keptBy(choice);
  const to = (other: Query) => withQuery(PATH, { sort, maintainer, ...other });
  const known = isState(state) ? state : undefined;
  const nearest =
    state === undefined || known ? [] : nearestChoices(state, STATE_NAMES, (name) => STATES[name].label);
  const ofState = known && count("all", known);
  return [
    meantLinks(
      nearest,
      (name) => to({ q, state: name }),
      (name) => STATES[name].label,
    ),
    // Without the search there is this.
    q === undefined
      ? []
      : {
          href: to({ state: known }),
          words: known && ofState ? `All ${grouped(ofState)} ${STATES[known].which}` : "Clear the search",
        },
    q !== undefined && state !== undefined && count("found") > 0
      ? { href: to({ q }), words: html`${foreign(q, 40)} in any state: ${grouped(count("found"))}` }
      : [],
    { href: to({}), words: allOf(count("all"), "project") },
  ].flat();
}

/** A search by text, as the parameter `q`. The other filters are kept. */
function renderSearchForm(path: string, searched: string | undefined, kept: Query): Markup {
  return html`<form action="${path}" role="search" aria-label="This list">${keptFields(kept)}
    <label class="unseen" for="find">A part of the name, a maintainer, or a build number</label>
    <input id="find" name="q" type="search" value="${shorten(searched ?? "", 200)}"
    placeholder="Name, maintainer or build" autocomplete="off" spellcheck="false"><button>Find</button></form>`;
}
