import type { AnySql } from "../../store/connection/sql.ts";
import type { Definitions } from "../../store/migrate/definitions.ts";
import { type MigrationStatus, migrationStatus, whatIsMissing } from "../../store/migrate/migrate.ts";

/** The schema of a database compared with this program. */
export interface SchemaState {
  /** `none`: the database has nothing of docmirror. */
  state: "current" | "older" | "newer" | "none";
  /** The number of migrations that the program knows. */
  migrations: number;
  /** How many of them the database lacks. */
  missing: number;
  /** How many the database has that the program does not know. */
  unknown: number;
  /** Views and functions of the reports that are defined differently. */
  outdated: number;
}

/**
 * Compares the schema of a database with this program. Changes nothing. `fault` says why this program cannot use the
 * database, and what to do; null when it can. Throws StoreError.
 */
export async function judgeSchema(
  sql: AnySql,
  definitions: Definitions,
): Promise<{ schema: SchemaState; fault: string | null }> {
  const status = await migrationStatus(sql, definitions);
  const { migrations, unknown, outdated } = status;
  const missing = migrations.filter(({ appliedAt }) => appliedAt === null).length;
  const isNone = unknown === 0 && missing === migrations.length;
  const state = isNone ? "none" : status.state;
  return {
    schema: { state, migrations: migrations.length, missing, unknown, outdated: outdated.length },
    fault: faultOf(state, status),
  };
}

function faultOf(state: SchemaState["state"], status: MigrationStatus): string | null {
  switch (state) {
    case "current":
      return null;
    case "none":
      return "There is no mirror in the database yet; `docmirror sync` makes one.";
    case "older":
      return `The schema of the database is older than this program: ${whatIsMissing(status)}. Run \`docmirror migrate\`.`;
    case "newer":
      if (status.usable) return null;
      return "The schema of the database is newer than this program. Upgrade docmirror to the version that made it.";
  }
}
