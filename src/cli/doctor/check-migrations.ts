import { readDefinitions } from "../../report/definitions.ts";
import type { Sql } from "../../store/connection/connect.ts";
import { assertUsable, migrationStatus, whatIsMissing } from "../../store/migrate/migrate.ts";
import { ok, type Result, warning } from "./finding.ts";

/**
 * Whether the schema is the one of this program. A database without any schema is not a fault: its result is
 * `none`.
 */
export async function checkMigrations(sql: Sql, isEmbedded: boolean, none: Result): Promise<Result> {
  const definitions = readDefinitions();
  const status = await migrationStatus(sql, definitions);
  const { state, migrations } = status;
  const missing = migrations.filter(({ appliedAt }) => appliedAt === null);
  if (state === "older" && missing.length === migrations.length) return none;
  if (state === "older" && isEmbedded) {
    return warning(
      whatIsMissing(status),
      "the next `docmirror sync` brings them up to date, or `docmirror migrate` does now",
    );
  }
  assertUsable(status);
  if (state === "newer") {
    return warning(
      "a later version of docmirror has migrated this database; this program may still use it",
      "upgrade docmirror here too: this program does not refresh reports that it does not know",
    );
  }
  return ok(`all ${migrations.length} are applied, the last one is ${migrations.at(-1)?.tag}`);
}
