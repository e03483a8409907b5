import { SchemaVersionError } from "../../base/errors.ts";
import type { Sql } from "../connection/sql.ts";
import type { Definitions } from "./definitions.ts";
import { assertSchemaUsable, migrationStatus } from "./migrate.ts";

/**
 * For commands that only read. Throws SchemaVersionError unless this program may use the database. If the
 * database has no schema of docmirror, the error says that `place` has no mirror yet.
 */
export async function assertMirror(sql: Sql, definitions: Definitions, place: string): Promise<void> {
  try {
    await assertSchemaUsable(sql, definitions);
  } catch (error) {
    if (error instanceof SchemaVersionError && (await isWithoutSchema(sql, definitions)))
      throw noMirrorError(place);
    throw error;
  }
}

/** The error for a place without a mirror. `place` is "./.docmirror" or "the database postgres://…". */
export function noMirrorError(place: string): SchemaVersionError {
  return new SchemaVersionError(`There is no mirror in ${place} yet; \`docmirror sync\` makes one`, {
    hint: "if there should be one, see DATABASE_URL, DOCMIRROR_DATA_DIR and the working directory: `docmirror config` shows them",
  });
}

async function isWithoutSchema(sql: Sql, definitions: Definitions): Promise<boolean> {
  const { migrations, unknown } = await migrationStatus(sql, definitions);
  return unknown === 0 && migrations.every(({ appliedAt }) => appliedAt === null);
}
