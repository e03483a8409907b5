import { RESOURCES } from "../../src/resources/resources.ts";
import { withSql } from "../../src/store/connection/connect.ts";

const TABLES = [
  ...RESOURCES.map((resource) => `${resource}s`),
  "project_users",
  "build_logs",
  "build_transitions",
  "unresolved_references",
];
/** What says when and by whom a row was written, and so differs between two mirrors of the same records. */
const CIRCUMSTANCES = [
  "first_seen_at",
  "first_seen_run_id",
  "changed_at",
  "changed_run_id",
  "deleted_at",
  "not_after",
  "not_before",
  "run_id",
  "request",
  "asked_at",
  "previous_run_id",
  "previous_request",
  "checked_at",
  "source",
];

/** Every row of the mirror as texts in a fixed order, without what only tells of the runs that wrote it. */
export function mirrorRows(databaseUrl: string): Promise<Record<string, string[]>> {
  return withSql(databaseUrl, { applicationName: "docmirror test", max: 1 }, async (sql) => {
    const rows: Record<string, string[]> = {};
    for (const table of TABLES) {
      const found = await sql<{ row: string }[]>`
        select (to_jsonb(t) - ${CIRCUMSTANCES}::text[] || jsonb_build_object('deleted', to_jsonb(t) -> 'deleted_at' <> 'null'))::text as row
        from ${sql(`mirror.${table}`)} t`;
      rows[table] = found.map(({ row }) => row).sort();
    }
    return rows;
  });
}

/** Every recorded change as a text in a fixed order, without when and by which run it was seen: a change written twice is there twice. */
export function changeRows(databaseUrl: string): Promise<string[]> {
  return withSql(databaseUrl, { applicationName: "docmirror test", max: 1 }, async (sql) => {
    const found = await sql<{ row: string }[]>`
      select (to_jsonb(change) - ${["id", "run_id", "observed_at"]}::text[])::text as row from mirror.changes as change`;
    return found.map(({ row }) => row).sort();
  });
}
