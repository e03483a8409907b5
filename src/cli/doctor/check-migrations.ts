import type { Sql } from "../../db/connect.ts";
import { assertSchemaCurrent, migrationStatus } from "../../db/migrate.ts";
import { ok, type Result, unknown, warning } from "./finding.ts";

/** Whether the tables are those of this program. A database that never had them is none of the faults: the first sync makes them. */
export async function checkMigrations(sql: Sql, isEmbedded: boolean): Promise<Result> {
  const { state, migrations } = await migrationStatus(sql);
  const missing = migrations.filter(({ appliedAt }) => appliedAt === null);
  if (state === "older" && missing.length === migrations.length)
    return unknown("the database has no tables of ours yet", "the first `docmirror sync` makes them");
  if (state === "older" && isEmbedded) {
    return warning(
      `${missing.length} of ${migrations.length} migrations are missing`,
      "the next `docmirror sync` applies them, or `docmirror migrate` now",
    );
  }
  await assertSchemaCurrent(sql);
  return ok(`all ${migrations.length} are applied, the last one is ${migrations.at(-1)?.tag}`);
}
