import type { Sql } from "../../db/connect.ts";
import { assertSchemaCurrent, migrationStatus } from "../../db/migrate.ts";
import { ok, type Result, warning } from "./finding.ts";

/**
 * Whether the tables are those of this program. A database that never had them is no fault: it comes to
 * `none`.
 */
export async function checkMigrations(sql: Sql, isEmbedded: boolean, none: Result): Promise<Result> {
  const { state, migrations } = await migrationStatus(sql);
  const missing = migrations.filter(({ appliedAt }) => appliedAt === null);
  if (state === "older" && missing.length === migrations.length) return none;
  if (state === "older" && isEmbedded) {
    return warning(
      `${missing.length} of ${migrations.length} migrations are missing`,
      "the next `docmirror sync` applies them, or `docmirror migrate` now",
    );
  }
  await assertSchemaCurrent(sql);
  return ok(`all ${migrations.length} are applied, the last one is ${migrations.at(-1)?.tag}`);
}
