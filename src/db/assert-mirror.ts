import { SchemaVersionError } from "../errors.ts";
import type { Sql } from "./connect.ts";
import type { Definitions } from "./definitions.ts";
import { assertSchemaCurrent, migrationStatus } from "./migrate.ts";

/**
 * For commands that only read. Throws SchemaVersionError unless the database has just this program's schema;
 * where it has none of it at all, the error says that there is no mirror in `place` yet.
 */
export async function assertMirror(sql: Sql, definitions: Definitions, place: string): Promise<void> {
  try {
    await assertSchemaCurrent(sql, definitions);
  } catch (error) {
    if (error instanceof SchemaVersionError && (await isWithoutSchema(sql, definitions)))
      throw noMirrorError(place);
    throw error;
  }
}

/** That there is nothing to read in `place`, as in "./.docmirror" or "the database postgres://…". */
export function noMirrorError(place: string): SchemaVersionError {
  return new SchemaVersionError(`There is no mirror in ${place} yet; \`docmirror sync\` makes one`, {
    hint: "if there should be one, see DATABASE_URL, DOCMIRROR_DATA_DIR and the working directory: `docmirror config` shows them",
  });
}

async function isWithoutSchema(sql: Sql, definitions: Definitions): Promise<boolean> {
  const { migrations, unknown } = await migrationStatus(sql, definitions);
  return unknown === 0 && migrations.every(({ appliedAt }) => appliedAt === null);
}
