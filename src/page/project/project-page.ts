import { ConfigError } from "../../base/errors.ts";
import { counted } from "../../base/text.ts";
import { assertNamesKnown } from "../../report/known-names.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { age } from "../parts/age.ts";
import { askEach } from "../parts/ask-all.ts";
import { renderBlock } from "../parts/block.ts";
import type { Address, Draft, Drawing } from "../parts/drawing.ts";
import { html } from "../parts/html.ts";
import { feedHref, projectHref, type Query, withQuery } from "../parts/links.ts";
import { nearestLinks, notice } from "../parts/notice.ts";
import { offerFiles } from "../parts/offers.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { readPageNumber } from "../parts/pager.ts";
import { findMaintainers } from "../parts/questions/maintainers.ts";
import { findNearestProjects, findProjects } from "../parts/questions/project-names.ts";
import type { Row } from "../parts/row.ts";
import { foreign, type Markup, shorten } from "../parts/words.ts";
import { onlyQuery, renderBuilds } from "./project-builds.ts";
import { renderCauses } from "./project-causes.ts";
import { renderProjectFailing } from "./project-failing.ts";
import {
  askForSeriesStrips,
  askForVersionNames,
  PROJECT_FILES,
  type ProjectChoice,
  projectBlocks,
  projectQuestions,
  type SeriesOf,
  type Subject,
} from "./project-questions.ts";
import {
  renderBadgeText,
  renderProjectDays,
  renderProjectFacts,
  renderProjectFixed,
  renderProjectTimes,
} from "./project-rail.ts";
import { renderSeries } from "./project-series.ts";
import { judgeProject, renderProjectVerdict } from "./project-verdict.ts";
import { type SeriesStrips, seriesKey } from "./series-strips.ts";

/** The page of a project: whether its main docs are good, why not, and its builds. */
export function projectPage({ name, query, origin }: Address): Drawing {
  const choice = parse(query);
  return {
    key: ["project", name, choice, origin],
    draw: (tx, moment) => draw(tx, { slug: name, origin }, choice, moment),
    files: {
      parameters: PROJECT_FILES,
      async ask(tx, { at }) {
        const { version, type } = choice.only;
        await assertNamesKnown(tx, { project: name, version, type });
        const { shown } = await findShown(tx, name, choice);
        if (shown === undefined) return {};
        if (choice.id !== undefined && shown.project_id !== choice.id)
          throw new ConfigError(`no project ${name} has the id ${choice.id}`);
        const subject = subjectOf(shown, name);
        return projectBlocks(projectQuestions(subject, choice, at), subject);
      },
    },
  };
}

function parse(query: URLSearchParams): ProjectChoice {
  const given = (name: string) => query.get(name)?.replaceAll("\0", "").slice(0, 400) || undefined;
  return {
    id: given("id"),
    only: { version: given("version"), type: given("type"), reference: given("ref") },
    page: readPageNumber(query),
    isAllSeries: query.get("versions") === "all",
  };
}

async function draw(
  tx: TransactionSql,
  { slug, origin }: { readonly slug: string; readonly origin: string },
  choice: ProjectChoice,
  moment: PageMoment,
): Promise<Draft> {
  const { projects, shown: project } = await findShown(tx, slug, choice);
  if (project === undefined) return drawAbsence(tx, slug);
  const subject = subjectOf(project, slug);
  const questions = projectQuestions(subject, choice, moment.at);
  const answers = await askEach(tx, questions);
  const strips = await findStrips(tx, subject, [...answers.failing, ...answers.series]);
  const address = await findAddress(tx, subject);
  const maintainers = await findMaintainers(tx, [subject.id]);
  const versions =
    answers.builds.length === 0 && choice.only.version !== undefined ? await findVersions(tx, subject) : [];
  const { now, at } = moment;
  const kept = projects.length > 1 ? { id: subject.id } : {};
  const href = (query: Query) => withQuery(projectHref(slug), { ...kept, ...query });
  const isNow = at.getTime() === now.getTime();
  const blocks = projectBlocks(questions, subject);
  const offers = offerFiles("project", { slug, ...kept, ...onlyQuery(choice.only) }, blocks, PROJECT_FILES);
  const main = html`${renderTwins(projects, subject, now)}
${renderProjectVerdict({ project, subject, answers, moment, address })}
${renderBuilds({ subject, choice, answers, offers, href, versions, now })}
<div class="cols">
<div class="col">
${renderProjectFailing({ answers, offers, strips, isNow, now })}
${renderCauses(answers, offers, now)}
${renderSeries({ choice, answers, offers, strips, href, now })}
${subject.id === "-1" || project.is_deleted === true ? "" : renderBadgeText(subject, origin)}
</div>
<aside class="col rail" aria-label="More about this project">
${renderProjectDays(answers, offers, moment)}
${renderProjectFixed(answers, offers, now)}
${renderProjectTimes(answers, offers)}
${subject.id === "-1" ? "" : renderProjectFacts(project, subject, maintainers, offers, now)}
</aside>
</div>`;
  const { sign, tone } = judgeProject(project, answers, moment);
  const feed = { href: feedHref(slug), title: `What broke and was fixed of ${shorten(slug)}` };
  const facts = { title: `${sign} ${shorten(slug, 80)}`, tone, tab: "/projects", main } as const;
  return { status: 200, facts: { ...facts, feed } };
}

/** All projects with a slug, and the chosen one of them. */
async function findShown(tx: TransactionSql, slug: string, { id }: ProjectChoice) {
  const projects = inOrder(await findProjects(tx, slug));
  return { projects, shown: projects.find(({ project_id }) => project_id === id) ?? projects[0] };
}

const subjectOf = ({ project_id, default_version }: Row, slug: string): Subject => ({
  id: String(project_id),
  slug,
  mainVersion: String(default_version || "latest"),
});

/** Those that the service still has come first, and of those the newest. */
function inOrder(projects: readonly Row[]): Row[] {
  const seen = ({ first_seen_at }: Row) => String(first_seen_at ?? "");
  return projects.toSorted(
    (a, b) =>
      Number(a.is_deleted) - Number(b.is_deleted) || (seen(a) < seen(b) ? 1 : seen(a) > seen(b) ? -1 : 0),
  );
}

async function drawAbsence(tx: TransactionSql, slug: string): Promise<Draft> {
  const nearest = await findNearestProjects(tx, slug);
  const words = `The mirror has no project ${shorten(slug)}.${nearest.length > 0 ? " Similar names:" : ""}`;
  return {
    status: 404,
    facts: { ...notice("No such project", words, nearestLinks(nearest)), tab: "/projects", searched: slug },
  };
}

/** The outcomes of the last builds of listed series. A series that is listed twice is read once. */
async function findStrips(tx: TransactionSql, { id }: Subject, rows: readonly Row[]): Promise<SeriesStrips> {
  const series = [...new Map(rows.map((row) => [seriesKey(row), row as unknown as SeriesOf])).values()];
  if (series.length === 0) return () => [];
  const { strips } = await askEach(tx, { strips: askForSeriesStrips(id, series) });
  const outcomes = new Map(
    strips.map(({ place, outcomes }) => [
      seriesKey(series[Number(place)] ?? {}),
      outcomes as string[] | null,
    ]),
  );
  return (row) => outcomes.get(seriesKey(row)) ?? [];
}

/** Where the service has the documentation, which no relation of the reports says. */
async function findAddress(tx: TransactionSql, { id }: Subject): Promise<string | null> {
  const [row] = await tx<
    { subdomain: string | null }[]
  >`select subdomain from mirror.projects where id = ${id}`;
  return row?.subdomain ?? null;
}

async function findVersions(tx: TransactionSql, { id }: Subject): Promise<string[]> {
  const { versions } = await askEach(tx, { versions: askForVersionNames(id) });
  return versions.map(({ version_slug }) => String(version_slug));
}

/** Several projects with one slug: which one is shown, and links to the others. Nothing where there is one. */
function renderTwins(projects: readonly Row[], shown: Subject, now: Date): Markup | string {
  if (projects.length < 2) return "";
  return renderBlock({
    id: "twins",
    title: `${counted(projects.length, "project")} have this slug`,
    note: html`It was given anew, or one was renamed. Each has builds of its own, and nothing here adds
      them up. The files are of the project that is shown.`,
    body: html`<ul class="rows">${projects.map((project) => {
      const id = String(project.project_id);
      const href = withQuery(projectHref(shown.slug), { id });
      const isShown = id === shown.id;
      const until =
        project.is_deleted === true ? html`gone since ${age(project.deleted_at, now)}` : "the service has it";
      return html`<li><span><a href="${href}"${isShown ? html` aria-current="true"` : ""}>
        ${foreign(String(project.project_name), 60)}, id ${foreign(id, 24)}</a>
        ${isShown ? " (shown here)" : ""}</span><span>${until}</span></li>`;
    })}</ul>`,
  });
}
