import { html } from "hono/html";
import { createNearest } from "../config/nearest-names.ts";
import type { TransactionSql } from "../db/connect.ts";
import { askFor } from "../report/question.ts";
import type { Row } from "./cells.ts";
import { foreign, type Markup, moment } from "./words.ts";

const NEAREST_SHOWN = 5;
const FETCHED_ROWS = 1000;

/** The projects with a slug: none, one, or several when a slug moved from one project to another. */
export async function findProjects(tx: TransactionSql, slug: string): Promise<readonly Row[]> {
  const { text, params } = askFor("dim_projects", { project: slug });
  return tx.unsafe<Row[]>(text, params);
}

/** The slugs that are most similar to an unknown one. */
export async function findNearestProjects(tx: TransactionSql, slug: string): Promise<string[]> {
  const nearest = createNearest(slug, NEAREST_SHOWN);
  const all = tx<{ project_slug: string }[]>`select project_slug from report.dim_projects`.cursor(
    FETCHED_ROWS,
  );
  for await (const rows of all) for (const { project_slug } of rows) nearest.offer(project_slug);
  return nearest.names();
}

/** Facts about a project apart from its builds. */
export function renderProjectFacts(projects: readonly Row[]): Markup {
  return html`${projects.map((project) => {
    const facts: [string, unknown][] = [
      ["Name", project.project_name],
      ["Repository", project.repo],
      ["Kind", project.repo_type],
      ["Documentation", project.documentation_type],
      ["Default version", project.default_version],
      ["Created", project.published_on],
    ];
    const deleted = project.deleted_at;
    return html`<dl class="facts">
${facts
  .filter(([, value]) => value !== null && value !== "")
  .map(
    ([label, value]) => html`<div><dt>${label}</dt><dd>${foreign(String(value), 200)}</dd></div>
`,
  )}${deleted ? html`<div><dt>Deleted</dt><dd>${moment(String(deleted))}: the service no longer has it</dd></div>` : ""}</dl>`;
  })}`;
}
