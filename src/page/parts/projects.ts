import { type SQL, sql } from "drizzle-orm";
import { createNearest } from "../../base/config/nearest-names.ts";
import { askFor } from "../../report/ask.ts";
import { runText, statement, type TransactionSql } from "../../store/connection/sql.ts";
import type { Row } from "./answers.ts";
import { foreign, html, joined, type Markup } from "./html.ts";
import { withQuery } from "./links.ts";

const NEAREST_SHOWN = 5;
const FETCHED_ROWS = 1000;

/** A row of `report.dim_projects`. */
export interface Project extends Row {
  readonly project_id: string;
  readonly project_slug: string;
  readonly project_name: string;
  readonly default_version: string | null;
  readonly is_deleted: boolean;
  readonly is_listed: boolean | null;
  readonly deleted_at: string | null;
  readonly first_seen_at: string | null;
}

/** The projects with a slug: none, one, or several when a slug moved from one project to another. */
export async function findProjects(tx: TransactionSql, slug: string): Promise<readonly Project[]> {
  const { text, params } = askFor("dim_projects", { project: slug });
  return runText<Project>(tx, text, params);
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

/** The usernames of those who maintain projects, by the project's id. */
type Maintainers = ReadonlyMap<unknown, readonly string[]>;

const MAY_SEE_PEOPLE = statement<{ maySee: boolean | null }>("may_see_people", import.meta.url);
const MAINTAINERS = statement<{ project_id: string; maintainers: string[] }>("maintainers", import.meta.url);
const PROJECTS_OF_USER = statement<{ project_id: string; is_gone: boolean }>(
  "projects_of_user",
  import.meta.url,
);

/** The role that reads may see people: Postgres decides that, by its rights on schema report_people. */
async function maySeePeople(tx: TransactionSql): Promise<boolean> {
  const [right] = await MAY_SEE_PEOPLE(tx);
  return right?.maySee === true;
}

/** Null where the role that reads may not see people. */
export async function findMaintainers(
  tx: TransactionSql,
  ids: readonly unknown[],
): Promise<Maintainers | null> {
  if (!(await maySeePeople(tx))) return null;
  const rows = await MAINTAINERS(tx, { ids: ids.map(String) });
  return new Map(rows.map(({ project_id, maintainers }) => [project_id, maintainers]));
}

/** Usernames, each a link to what it maintains; `most` of them. */
export const renderMaintainers = (names: readonly string[], most: number): Markup =>
  joined(
    [
      ...names.slice(0, most).map((name) => html`<a href="${maintainerHref(name)}">${foreign(name, 40)}</a>`),
      names.length > most && `${names.length - most} more`,
    ],
    ", ",
  );

export const maintainerHref = (maintainer: string): string => withQuery("/projects", { maintainer });

/** The projects of one maintainer. `ids` is null where the role that reads may not see people. */
export interface Mine {
  readonly maintainer: string;
  /** Those of them that the service still has. */
  readonly count: number;
  readonly ids: readonly string[] | null;
}

/** The projects that a username maintains, in any case of its letters; none for no name. */
export async function findMine(
  tx: TransactionSql,
  maintainer: string | undefined,
): Promise<Mine | undefined> {
  if (maintainer === undefined) return undefined;
  if (!(await maySeePeople(tx))) return { maintainer, count: 0, ids: null };
  const rows = await PROJECTS_OF_USER(tx, { username: maintainer });
  const count = rows.filter(({ is_gone }) => !is_gone).length;
  return { maintainer, count, ids: rows.map(({ project_id }) => project_id) };
}

/** That a project is one of them; each is where nobody was named. */
export const isMine = (projectId: SQL, mine: Mine | undefined): SQL | false =>
  mine !== undefined &&
  sql`${projectId} in (select json_array_elements_text(${JSON.stringify(mine.ids ?? [])}::text::json))`;

/** Says of which maintainer the projects are, or why there are none. */
export function mineWords({ maintainer, count, ids }: Mine): Markup {
  const name = foreign(maintainer, 60);
  if (ids === null)
    return html`Who maintains a project may not be seen here, so none is listed as one of ${name}.`;
  if (ids.length === 0) return html`Nobody with the name ${name} maintains a project.`;
  return count === 0
    ? html`The service has no project any more that ${name} maintains.`
    : html`Only what ${name} maintains.`;
}

/** Names the maintainer whose projects are listed, with the way back to all. */
export const renderMine = (mine: Mine | undefined, all: string): Markup | false =>
  mine !== undefined && html`<p class="note">${mineWords(mine)} <a href="${all}">All projects</a></p>`;
