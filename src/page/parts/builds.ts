import { sql } from "drizzle-orm";
import { askFor, relation } from "../../report/ask.ts";
import { isStorableId } from "../../resources/record-id.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type Asks, askEach, type Row } from "./answers.ts";

const build = relation("fact_builds");

/** A row of `report.fact_builds`. */
export interface Build extends Row {
  readonly build_id: string;
  readonly project_id: string;
  readonly project_slug: string;
  readonly version_id: string;
  readonly version_slug: string;
  readonly type: string;
  /** The name by which the build calls an unknown version. */
  readonly reference: string | null;
  readonly outcome: string;
  /** 1, or 0; null where it has not finished. */
  readonly succeeded: number | null;
  readonly failed: number | null;
  readonly triggered_at: string | null;
  readonly finished_after: string | null;
  readonly finished_before: string | null;
  readonly error_class: string | null;
  readonly error_line_id: string | null;
  readonly error_fingerprint: string | null;
  readonly is_dated_ahead: boolean | null;
}

export const askForBuild = (id: string): Asks<Build> =>
  askFor("fact_builds", {}, [sql`${build.build_id} = ${id}`]);

/** The build with an id; undefined where the reports have none. */
export async function findBuild(tx: TransactionSql, id: string): Promise<Build | undefined> {
  const { found } = await askEach(tx, { found: isStorableId(id) ? askForBuild(id) : null });
  return found[0];
}
