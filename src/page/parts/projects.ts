import { createNearest } from "../../base/config/nearest-names.ts";
import { askFor } from "../../report/ask.ts";
import { runText } from "../../store/connection/run-statement.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { Row } from "./block.ts";

const NEAREST_SHOWN = 5;
const FETCHED_ROWS = 1000;

/** The projects with a slug: none, one, or several when a slug moved from one project to another. */
export async function findProjects(tx: TransactionSql, slug: string): Promise<readonly Row[]> {
  const { text, params } = askFor("dim_projects", { project: slug });
  return runText<Row>(tx, text, params);
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
export type Maintainers = ReadonlyMap<unknown, string>;

/** Null where the role that reads may not see people: Postgres decides that, by its rights on schema report_people. */
export async function findMaintainers(
  tx: TransactionSql,
  ids: readonly unknown[],
): Promise<Maintainers | null> {
  // The name of a relation in a schema that is hidden from the role would be an error.
  const [right] = await tx<{ mayRead: boolean | null }[]>`
    select case when has_schema_privilege(to_regnamespace('report_people')::oid, 'usage')
      then has_table_privilege(to_regclass('report_people.project_maintainers')::oid, 'select') end as "mayRead"`;
  if (!right?.mayRead) return null;
  const rows = await tx<{ project_id: string; maintainers: string }[]>`
    select project_id, array_to_string(maintainers, ', ') as maintainers from report_people.project_maintainers where project_id = any (${ids.map(String)})`;
  return new Map(rows.map(({ project_id, maintainers }) => [project_id, maintainers]));
}
