import { ConfigError } from "../../base/errors.ts";
import { counted } from "../../base/text.ts";
import { assertNamesKnown } from "../../report/known-names.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type BlockPage, drawBlocks, filesOf, renderBlock } from "../parts/block.ts";
import { type Address, type Draft, type Drawing, notice } from "../parts/document.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { foreign, html, type Markup, shorten } from "../parts/html.ts";
import { CURRENT, feedHref, projectHref, readPageNumber, withQuery } from "../parts/links.ts";
import { age } from "../parts/marks.ts";
import { findNearestProjects, findProjects, type Project } from "../parts/projects.ts";
import { renderRows } from "../parts/tables.ts";
import { builds, onlyQuery, versions } from "./builds.ts";
import type { ProjectChoice, ProjectScope, Subject } from "./project-scope.ts";
import { causes, failing, projectVerdict } from "./project-verdict.ts";
import { days, facts, fixed, times } from "./rail.ts";

const PROJECT: BlockPage<ProjectScope> = {
  name: "project",
  narrowedBy: { slug: null, id: null },
  layout: [
    builds,
    days,
    { main: [failing, causes, versions], rail: [fixed, times, facts], railLabel: "More about this project" },
  ],
  kept: ({ subject: { slug }, kept, choice }) => ({ slug, ...kept, ...onlyQuery(choice.only) }),
};

/** The page of a project: whether its main docs are good, why not, and its builds. */
export function projectPage({ name: slug, query }: Address): Drawing {
  const choice = parse(query);
  const scopeOf = (project: Project, twins: readonly Project[], moment: PageMoment): ProjectScope => {
    const id = project.project_id;
    const kept = twins.length > 1 ? { id } : {};
    return {
      ...moment,
      subject: { id, slug, main: { version_slug: project.default_version || "latest", type: "html" } },
      project,
      choice,
      kept,
      href: (query) => withQuery(projectHref(slug), { ...kept, ...query }),
    };
  };
  return {
    key: ["project", slug, choice],
    files: filesOf(PROJECT, async (tx, moment) => {
      const { version, type } = choice.only;
      await assertNamesKnown(tx, { project: slug, version, type });
      const { projects, shown } = await findShown(tx, slug, choice);
      if (shown !== undefined && choice.id !== undefined && shown.project_id !== choice.id)
        throw new ConfigError(`no project ${slug} has the id ${choice.id}`);
      return shown && scopeOf(shown, projects, moment);
    }),
    async draw(tx, moment) {
      const { projects, shown } = await findShown(tx, slug, choice);
      if (shown === undefined) return drawAbsence(tx, slug);
      const scope = scopeOf(shown, projects, moment);
      const { verdict, draw } = await drawBlocks(tx, PROJECT, projectVerdict, scope);
      return {
        verdict,
        above: html`${renderTwins(projects, scope.subject, moment.now)}
`,
        main: html`
${await draw(undefined)}`,
        tab: "/projects",
        feed: { href: feedHref(slug), title: `What broke and was fixed of ${shorten(slug)}` },
      };
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

/** All projects with a slug, the ones that the service still has first, and of those the newest; and the chosen one. */
async function findShown(tx: TransactionSql, slug: string, { id }: ProjectChoice) {
  const seen = ({ first_seen_at }: Project) => first_seen_at ?? "";
  const projects = (await findProjects(tx, slug)).toSorted(
    (a, b) =>
      Number(a.is_deleted) - Number(b.is_deleted) || (seen(a) < seen(b) ? 1 : seen(a) > seen(b) ? -1 : 0),
  );
  return { projects, shown: projects.find(({ project_id }) => project_id === id) ?? projects[0] };
}

async function drawAbsence(tx: TransactionSql, slug: string): Promise<Draft> {
  const nearest = await findNearestProjects(tx, slug);
  const words = `The mirror has no project ${shorten(slug)}.${nearest.length > 0 ? " Similar names:" : ""}`;
  return {
    ...notice(
      "No such project",
      words,
      nearest.map((name) => ({ href: projectHref(name), words: foreign(name) })),
    ),
    status: 404,
    tab: "/projects",
    searched: slug,
  };
}

/** Several projects with one slug: which one is shown, and links to the others. Nothing where there is one. */
function renderTwins(projects: readonly Project[], shown: Subject, now: Date): Markup | "" {
  if (projects.length < 2) return "";
  return renderBlock({
    id: "twins",
    title: `${counted(projects.length, "project")} have this slug`,
    note: html`It was given anew, or one was renamed. Each has builds of its own, and nothing here adds
      them up. The files are of the project that is shown.`,
    body: renderRows(
      projects.map(({ project_id: id, project_name, is_deleted, deleted_at }) => ({
        name: html`<a href="${withQuery(projectHref(shown.slug), { id })}"${id === shown.id && CURRENT}>
          ${foreign(project_name, 60)}, id ${foreign(id, 24)}</a>
          ${id === shown.id && " (shown here)"}`,
        age: is_deleted
          ? html`<span>gone since ${age(deleted_at, now)}</span>`
          : html`<span>the service has it</span>`,
      })),
    ),
  });
}
