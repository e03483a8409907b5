import { createNearest } from "../../../base/config/nearest-names.ts";
import { askFor } from "../../../report/ask.ts";
import { runText } from "../../../store/connection/run-statement.ts";
import type { TransactionSql } from "../../../store/connection/sql.ts";
import type { Row } from "../row.ts";

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
